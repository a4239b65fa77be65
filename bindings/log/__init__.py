"""The verifiable log of all changes of names: its folder, sequencer, publication and recovery."""
