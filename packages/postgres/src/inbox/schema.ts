/**
 * The inbox: jobs that are enqueued by SQL, in the caller's transaction, by any language and through any pooler. The owner takes them
 * out in the turn that creates them.
 */
import { LIMITS, NAME_PATTERN, NODE_LIMIT, PLACE_LIMIT } from '@millrace/core'

/** Places repeat after so many entries, with another number. */
export const PLACES = PLACE_LIMIT - 1
/** Numbers repeat after so many. No number is 0. */
export const NUMBERS = NODE_LIMIT - 1

/**
 * The options of an entry as Postgres prints them. The owner reads them all, whoever has written them. Valid ones have at most about half of
 * it: 96 KiB of tags if each UTF-16 unit is escaped, 16 KiB of meta and the spaces that Postgres adds, and a few keys of 3 KiB. Only numbers
 * such as 1e300 in meta, which Postgres prints with all their digits, can need more.
 */
const OPTIONS_BYTES_MAX = 2 ** 18
/** The part of a wrong value in an error message, in characters. */
const SHOWN = 100
/** The data and the options of an entry. The owner's own limit for data applies as well. */
const BYTES_MAX = LIMITS.bytesPerCommand + 2 ** 20

/**
 * Returns the id of the new job, which is valid as soon as the transaction commits. It runs with the rights of the schema's owner, so that
 * others need the right to use the schema, and none on its tables. The transaction gets its number before the entry does.
 */
const ENQUEUE = `CREATE FUNCTION enqueue(name text, data jsonb DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  entry bigint;
  place bigint;
  number bigint;
  clock text := lpad(to_hex(ms), 12, '0');
  bytes bigint;
BEGIN
  PERFORM pg_current_xact_id();
  IF name IS NULL OR name !~ '${NAME_PATTERN}' THEN
    RAISE EXCEPTION 'name must have 1 to ${LIMITS.nameLength} of the characters A-Z a-z 0-9 _ . : / -, got %', coalesce(left(to_json(name)::text, ${SHOWN}), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF jsonb_typeof(options) IS DISTINCT FROM 'object' THEN
    RAISE EXCEPTION 'options must be an object, such as {"priority": 5}, got %', coalesce(left(options::text, ${SHOWN}), 'null')
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF octet_length(options::text) > ${OPTIONS_BYTES_MAX} THEN
    RAISE EXCEPTION 'options must have at most ${OPTIONS_BYTES_MAX} bytes, got %: put large content into data', octet_length(options::text)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  bytes := coalesce(octet_length(data::text), 0) + octet_length(options::text);
  IF bytes > ${BYTES_MAX} THEN
    RAISE EXCEPTION 'data and options must have at most ${BYTES_MAX} bytes, got %: keep large content elsewhere and store its address', bytes
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO inbox (at, name, data, options, bytes) VALUES (ms, name, data, options, bytes) RETURNING id INTO entry;
  place := (entry - 1) % ${PLACES} + 1;
  SELECT (inbox_number - 1 + (entry - 1) / ${PLACES}) % ${NUMBERS} + 1 INTO number FROM meta;
  RETURN substr(clock, 1, 8) || '-' || substr(clock, 9, 4) || '-7' || lpad(to_hex((place >> 22) >> 14), 3, '0')
    || '-' || lpad(to_hex(32768 + ((place >> 22) & 16383)), 4, '0')
    || '-' || lpad(to_hex(((place & 4194303) << 2) | (number >> 24)), 6, '0') || lpad(to_hex(number & 16777215), 6, '0');
END $$`

export const CREATE_INBOX: readonly string[] = [
  `CREATE TABLE inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, name text NOT NULL, data jsonb, options jsonb NOT NULL,
  bytes bigint NOT NULL,
  -- The owners that have begun to decide the entry, and were gone before they had.
  tries smallint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
  // Entries that became no job, with the reason.
  `CREATE TABLE inbox_refused (
  id bigint PRIMARY KEY, at bigint NOT NULL, name text NOT NULL, data jsonb, options jsonb NOT NULL, refused_at bigint NOT NULL,
  code text NOT NULL, message text NOT NULL
)`,
  ENQUEUE,
]
