CREATE FUNCTION ararat_never() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$
;;
CREATE TABLE bindings (
	key TEXT COLLATE "C" NOT NULL, 
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
	PRIMARY KEY (key), 
	CONSTRAINT kind_known CHECK (kind IN ('located', 'related', 'described', 'served')), 
	CONSTRAINT status_known CHECK (status IN ('live', 'withdrawn')), 
	CONSTRAINT redirect_known CHECK (redirect IN (302, 307)), 
	CONSTRAINT passthrough_known CHECK (passthrough IN (0, 1)), 
	CONSTRAINT scope_known CHECK (scope IN ('name', 'subtree')), 
	CONSTRAINT target_unless_described CHECK ((target IS NULL) = (kind = 'described'))
)
;;
CREATE TRIGGER bindings_never_0 BEFORE DELETE ON bindings FOR EACH ROW  EXECUTE FUNCTION ararat_never('a name is never deleted')
;;
CREATE TRIGGER bindings_never_1 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.key <> NEW.key) EXECUTE FUNCTION ararat_never('a name is never renamed')
;;
CREATE TRIGGER bindings_never_2 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (OLD.resource <> NEW.resource OR (OLD.resource IS NOT NULL AND NEW.resource IS NULL)) EXECUTE FUNCTION ararat_never('a name is never re-assigned')
;;
CREATE TRIGGER bindings_never_9 BEFORE UPDATE ON bindings FOR EACH ROW WHEN (NEW.revision <> OLD.revision + 1) EXECUTE FUNCTION ararat_never('a change raises the revision by 1 (use ararat)')
;;
CREATE TRIGGER bindings_never_emptied BEFORE TRUNCATE ON bindings EXECUTE FUNCTION ararat_never('bindings are never emptied')
;;
CREATE TABLE events (
	id BIGSERIAL NOT NULL, 
	key TEXT COLLATE "C" NOT NULL, 
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
	UNIQUE (key, revision), 
	CONSTRAINT action_known CHECK (action IN ('bound', 'updated', 'relocated', 'withdrawn', 'restored'))
)
;;
CREATE TRIGGER events_never_3 BEFORE DELETE ON events FOR EACH ROW  EXECUTE FUNCTION ararat_never('history is never deleted')
;;
CREATE TRIGGER events_never_4 BEFORE UPDATE ON events FOR EACH ROW  EXECUTE FUNCTION ararat_never('history is never changed')
;;
CREATE TRIGGER events_never_emptied BEFORE TRUNCATE ON events EXECUTE FUNCTION ararat_never('events are never emptied')
;;
CREATE TABLE rules (
	prefix TEXT COLLATE "C" NOT NULL, 
	template TEXT NOT NULL, 
	redirect SMALLINT NOT NULL, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY (prefix), 
	CONSTRAINT redirect_known CHECK (redirect IN (302, 307))
)
;;
CREATE TABLE minted (
	key TEXT COLLATE "C" NOT NULL, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY (key)
)
;;
CREATE TRIGGER minted_never_5 BEFORE DELETE ON minted FOR EACH ROW  EXECUTE FUNCTION ararat_never('a minted name is never forgotten')
;;
CREATE TRIGGER minted_never_6 BEFORE UPDATE ON minted FOR EACH ROW  EXECUTE FUNCTION ararat_never('a minted name is never changed')
;;
CREATE TRIGGER minted_never_emptied BEFORE TRUNCATE ON minted EXECUTE FUNCTION ararat_never('minted are never emptied')
;;
CREATE TABLE rule_events (
	id BIGSERIAL NOT NULL, 
	action TEXT NOT NULL, 
	prefix TEXT COLLATE "C" NOT NULL, 
	template TEXT, 
	redirect SMALLINT, 
	changed TEXT NOT NULL, 
	actor TEXT, 
	PRIMARY KEY (id), 
	CONSTRAINT action_known CHECK (action IN ('set', 'removed'))
)
;;
CREATE TRIGGER rule_events_never_7 BEFORE DELETE ON rule_events FOR EACH ROW  EXECUTE FUNCTION ararat_never('history is never deleted')
;;
CREATE TRIGGER rule_events_never_8 BEFORE UPDATE ON rule_events FOR EACH ROW  EXECUTE FUNCTION ararat_never('history is never changed')
;;
CREATE TRIGGER rule_events_never_emptied BEFORE TRUNCATE ON rule_events EXECUTE FUNCTION ararat_never('rule_events are never emptied')
;;
CREATE TABLE ararat (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
)
