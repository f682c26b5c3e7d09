/**
 * Names the schema, its database and its server: a copy of the schema elsewhere has another id. Everybody gets the same answer, whatever rights
 * the caller has: the function runs with those of the schema's owner.
 */
const CREATE_SCHEMA_ID = `CREATE FUNCTION schema_id() RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  place text := (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || (SELECT oid FROM pg_namespace WHERE nspname = current_schema());
BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || place;
EXCEPTION WHEN insufficient_privilege OR undefined_function THEN
  RETURN 'unknown/' || place;
END $$`

/** The row of the owner names the schema for which it was written. An older version would write none. */
export const NAME_SCHEMA: readonly string[] = ["ALTER TABLE owner ADD COLUMN schema_id text NOT NULL DEFAULT ''", CREATE_SCHEMA_ID]

export const UNNAME_SCHEMA: readonly string[] = ['DROP FUNCTION schema_id()', 'ALTER TABLE owner DROP COLUMN schema_id']
