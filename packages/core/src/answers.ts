/**
 * The tables of what answers hold: a row for each field, with its kind and its sentence. Schemas of HTTP, tables of docs and the Python
 * client derive from them. An entry of its own: an engine does not load it.
 */
export { DECODED, JOB, NUMBERED_LINE, RUN_ERROR, STORED_JOB } from './answers/job.ts'
export type { Answer, AnswerKind, AnswerOf, AnswerOptions, AnswerRecord, Answers, FieldsOf, Same, Surface } from './answers/kind.ts'
