/**
 * From a TOML text and a schema to a checked value, or to one line that says which file, line and key is wrong and what to do.
 * Serves every settings file of the program, the server's and the agent's. Touches no disk.
 */
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { type KeyLines, lineOf, locateKeys } from './locate.ts';

/** A settings file that can't be used. The message is one line, made for the person who wrote the file. */
export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.name = 'ConfigError';
  }
}

export interface TomlFile<T> {
  readonly value: T;
  /** The file as written, before defaults. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly lines: KeyLines;
}

/** Reads `text` as TOML and checks it against the schema. `file` is used in messages only. Throws ConfigError. */
export function readToml<S extends z.ZodType>(text: string, file: string, schema: S): TomlFile<z.output<S>> {
  const raw = parseText(text, file);
  const lines = locateKeys(text);
  const result = schema.safeParse(raw, { error: describe });
  if (result.success) return { value: result.data, raw, lines };
  // The first mistake from the top of the file, as a person reads it.
  const mistakes = result.error.issues.map((issue) => toMistake(issue, schema, lines));
  mistakes.sort((a, b) => a.line - b.line);
  const [first] = mistakes;
  throw mistakeAt(file, lines, first?.path ?? [], first?.text ?? 'is not valid');
}

/** The error for a mistake that only several keys together show; `path` is the key to point at. */
export function mistakeAt(file: string, lines: KeyLines, path: readonly PropertyKey[], text: string): ConfigError {
  const line = lineOf(lines, path);
  return new ConfigError(`${file}${line === undefined ? '' : `:${line}`}: ${path.map(String).join('.')}: ${text}`);
}

function parseText(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // The parser's message goes on with a drawing of the code: its first line is the fact.
    const fact = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    throw new ConfigError(`${file}:${cause.line}: column ${cause.column}: not valid TOML: ${fact}`, { cause });
  }
}

interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly text: string;
  readonly line: number;
}

function toMistake(issue: z.core.$ZodIssue, schema: z.ZodType, lines: KeyLines): Mistake {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = unknown === undefined ? issue.path : [...issue.path, unknown];
  const text = unknown === undefined ? issue.message : unknownKey(issue.path, schema);
  return { path, text, line: lineOf(lines, path) ?? 0 };
}

function unknownKey(table: readonly PropertyKey[], schema: z.ZodType): string {
  const known = keysAt(schema, table);
  const where = table.length === 0 ? 'the top level' : `[${table.map(String).join('.')}]`;
  return `unknown key: ${where} knows ${known.join(', ')}`;
}

/** The keys that the schema knows in a table; none when the path leads to no table. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of path) {
    const table = unwrap(at);
    if (table instanceof z.ZodObject) at = shapeOf(table)[String(part)];
    else if (table instanceof z.ZodRecord) at = table.valueType;
    else return [];
  }
  const table = unwrap(at);
  return table instanceof z.ZodObject ? Object.keys(table.shape) : [];
}

function shapeOf(table: z.ZodObject): Readonly<Record<string, z.core.$ZodType>> {
  return table.shape;
}

/** The default of every key, by dotted path, as it would stand in a file. */
export function defaultsOf(schema: z.ZodType): Map<string, unknown> {
  const out = new Map<string, unknown>();
  const visit = (at: z.core.$ZodType, path: readonly string[]): void => {
    const inner = unwrap(at);
    if (inner instanceof z.ZodObject) {
      for (const [key, child] of Object.entries(shapeOf(inner))) visit(child, [...path, key]);
    } else if (at instanceof z.ZodPrefault || at instanceof z.ZodDefault) out.set(path.join('.'), at.def.defaultValue);
  };
  visit(schema, []);
  return out;
}

/** The schema inside a default or an optional. */
function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let at = schema;
  while (at instanceof z.ZodPrefault || at instanceof z.ZodDefault || at instanceof z.ZodOptional)
    at = at.def.innerType;
  return at;
}

const KINDS: Record<string, string> = {
  string: 'a text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list in [ ]',
  object: 'a table',
  record: 'a table',
};

/** What was written instead; never the value itself, for it may be a secret in the wrong place. */
function kindOf(value: unknown): string {
  if (value instanceof Date) return 'a date';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'too large to count, or none';
  return typeof value === 'object' ? 'a table' : `a ${typeof value}`;
}

/** zod's findings in our words. Undefined leaves zod's own (a message that a schema gave wins anyway). */
function describe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${KINDS[issue.expected] ?? issue.expected}, this is ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}, this is ${JSON.stringify(issue.input)}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue)}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue)}`;
    default:
      return undefined;
  }
}

function unitOf(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string {
  if (issue.origin === 'array') return ' entries';
  if (issue.origin === 'string') return ' characters';
  return `, this is ${String(issue.input)}`;
}
