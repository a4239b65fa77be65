CREATE TABLE bindings (
	"key" TEXT NOT NULL, 
	long_identifier TEXT, 
	kind TEXT NOT NULL, 
	target TEXT, 
	status TEXT NOT NULL, 
	redirect SMALLINT NOT NULL, 
	resource TEXT, 
	passthrough SMALLINT NOT NULL, 
	scope TEXT NOT NULL, 
	alternates TEXT, 
	metadata TEXT, 
	reason TEXT, 
	changed TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	PRIMARY KEY ("key"), 
	CONSTRAINT kind_known CHECK (kind IN ('located', 'related', 'described', 'served')), 
	CONSTRAINT status_known CHECK (status IN ('live', 'withdrawn')), 
	CONSTRAINT redirect_known CHECK (redirect IN (302, 307)), 
	CONSTRAINT passthrough_known CHECK (passthrough IN (0, 1)), 
	CONSTRAINT scope_known CHECK (scope IN ('name', 'subtree')), 
	CONSTRAINT target_unless_described CHECK ((target IS NULL) = (kind = 'described'))
)
;;
CREATE TABLE events (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	long_identifier TEXT, 
	kind TEXT NOT NULL, 
	target TEXT, 
	status TEXT NOT NULL, 
	redirect SMALLINT NOT NULL, 
	resource TEXT, 
	passthrough SMALLINT NOT NULL, 
	scope TEXT NOT NULL, 
	alternates TEXT, 
	metadata TEXT, 
	reason TEXT, 
	changed TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	action TEXT NOT NULL, 
	actor TEXT, 
	source TEXT, 
	PRIMARY KEY (id), 
	UNIQUE ("key", revision), 
	CONSTRAINT action_known CHECK (action IN ('bound', 'updated', 'relocated', 'withdrawn', 'restored'))
)
;;
CREATE TABLE rules (
	prefix TEXT NOT NULL, 
	template TEXT NOT NULL, 
	redirect SMALLINT NOT NULL, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY (prefix), 
	CONSTRAINT redirect_known CHECK (redirect IN (302, 307))
)
;;
CREATE TABLE ararat (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
)
;;
CREATE TRIGGER bindings_never_0 BEFORE DELETE ON bindings FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'a name is never deleted'); END
;;
CREATE TRIGGER bindings_never_1 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.key <> NEW.key) BEGIN SELECT RAISE(ABORT, 'a name is never renamed'); END
;;
CREATE TRIGGER bindings_never_2 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)) BEGIN SELECT RAISE(ABORT, 'a name is never re-assigned'); END
;;
CREATE TRIGGER events_never_3 BEFORE DELETE ON events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never deleted'); END
;;
CREATE TRIGGER events_never_4 BEFORE UPDATE ON events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never changed'); END
