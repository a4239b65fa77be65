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
CREATE TRIGGER bindings_never_0 BEFORE DELETE ON bindings FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'a name is never deleted'); END
;;
CREATE TRIGGER bindings_never_1 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.key <> NEW.key) BEGIN SELECT RAISE(ABORT, 'a name is never renamed'); END
;;
CREATE TRIGGER bindings_never_2 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)) BEGIN SELECT RAISE(ABORT, 'a name is never re-assigned'); END
;;
CREATE TRIGGER bindings_never_9 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (NEW.revision <> OLD.revision + 1) BEGIN SELECT RAISE(ABORT, 'a change raises the revision by 1 (use ararat)'); END
;;
CREATE TRIGGER bindings_never_replaced BEFORE INSERT ON bindings WHEN EXISTS (SELECT 1 FROM bindings WHERE key = NEW.key) BEGIN SELECT RAISE(ABORT, 'a row is never replaced'); END
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
CREATE TRIGGER events_never_3 BEFORE DELETE ON events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never deleted'); END
;;
CREATE TRIGGER events_never_4 BEFORE UPDATE ON events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never changed'); END
;;
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id OR (key = NEW.key AND revision = NEW.revision)) BEGIN SELECT RAISE(ABORT, 'a row is never replaced'); END
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
CREATE TABLE minted (
	"key" TEXT NOT NULL, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY ("key")
)
;;
CREATE TRIGGER minted_never_5 BEFORE DELETE ON minted FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'a minted name is never forgotten'); END
;;
CREATE TRIGGER minted_never_6 BEFORE UPDATE ON minted FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'a minted name is never changed'); END
;;
CREATE TRIGGER minted_never_replaced BEFORE INSERT ON minted WHEN EXISTS (SELECT 1 FROM minted WHERE key = NEW.key) BEGIN SELECT RAISE(ABORT, 'a row is never replaced'); END
;;
CREATE TABLE rule_events (
	id INTEGER NOT NULL, 
	action TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	template TEXT, 
	redirect SMALLINT, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY (id), 
	CONSTRAINT action_known CHECK (action IN ('set', 'removed'))
)
;;
CREATE TRIGGER rule_events_never_7 BEFORE DELETE ON rule_events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never deleted'); END
;;
CREATE TRIGGER rule_events_never_8 BEFORE UPDATE ON rule_events FOR EACH ROW  BEGIN SELECT RAISE(ABORT, 'history is never changed'); END
;;
CREATE TRIGGER rule_events_never_replaced BEFORE INSERT ON rule_events WHEN EXISTS (SELECT 1 FROM rule_events WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'a row is never replaced'); END
;;
CREATE TABLE ararat (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
)
