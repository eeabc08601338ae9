/**
 * From a TOML text and a schema to a checked value, or to one line that says which file, line and key is wrong and what to do.
 * Serves every settings file of the program, the server's and the agent's. Touches no disk.
 */
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { foreignKeyHint, looksLikeYaml, NOT_YAML } from './text/foreign-keys.ts';
import { type KeyLines, lineOf, locateKeys, pathKey } from './text/locate.ts';

/** Of a longer list the rest is counted. */
const MAX_MISTAKES = 50;

/** A settings file that can't be used. The message has one line for each mistake, made for the person who wrote the file. */
export class ConfigError extends Error {
  constructor(mistakes: string | readonly string[], options?: ErrorOptions) {
    const all = (typeof mistakes === 'string' ? [mistakes] : mistakes).map((text) => text.replace(/\s*\n\s*/g, ' '));
    const more = all.length > MAX_MISTAKES ? [`and ${all.length - MAX_MISTAKES} more errors`] : [];
    super([...all.slice(0, MAX_MISTAKES), ...more].join('\n'), options);
    this.name = 'ConfigError';
  }
}

/** A mistake that only several keys together show. */
export interface Conflict {
  /** The key to point at. */
  readonly path: readonly string[];
  /** Names the other keys in full. */
  readonly text: string;
}

export interface TomlFile<T> {
  readonly value: T;
  /** The file as written, before defaults. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly lines: KeyLines;
}

/**
 * Reads `text` as TOML and checks it against the schema, and for what `conflictsOf` finds in it. `file` is used in messages only.
 * @throws ConfigError with all mistakes, in the order of the file.
 */
export function readToml<S extends z.ZodType>(
  text: string,
  { file, schema, conflictsOf }: TomlCheck<S>,
): TomlFile<z.output<S>> {
  const raw = parseText(text, file);
  const lines = locateKeys(text);
  const isSet = (path: readonly string[]): boolean => lines.has(pathKey(path));
  const result = schema.safeParse(raw, { error: describe });
  const conflicts = (value: z.output<S>): readonly Conflict[] => conflictsOf?.(value, isSet) ?? [];
  const listed = new Set<string>();
  const mistakes = result.success
    ? conflicts(result.data)
    : [
        ...result.error.issues.flatMap((issue) => toMistakes(issue, schema, listed)),
        ...conflictsBeside(result.error.issues, { raw, schema, conflicts }),
      ];
  if (result.success && mistakes.length === 0) return { value: result.data, raw, lines };
  const texts = mistakes
    .map(({ path, text: what }) => ({
      line: lineOf(lines, path) ?? 0,
      said: lineFor(file, lines, { path, text: what }),
    }))
    // As a person reads the file.
    .sort((a, b) => a.line - b.line)
    .map(({ said }) => said);
  throw new ConfigError([...new Set(texts)]);
}

export interface TomlCheck<S extends z.ZodType> {
  readonly file: string;
  readonly schema: S;
  /** `isSet`: whether the person wrote this key. */
  readonly conflictsOf?: (value: z.output<S>, isSet: (path: readonly string[]) => boolean) => readonly Conflict[];
}

/** Conflicts of the keys that are right by themselves. One that a wrong key takes part in may be gone once that one is corrected. */
function conflictsBeside<S extends z.ZodType>(
  issues: readonly z.core.$ZodIssue[],
  { raw, schema, conflicts }: { raw: object; schema: S; conflicts: (value: z.output<S>) => readonly Conflict[] },
): readonly Conflict[] {
  const rest = structuredClone(raw);
  const wrong: string[] = [];
  for (const issue of issues) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) remove(rest, [...path, key]);
      // It may be any of the table's keys, misspelt.
      wrong.push(path.join('.'));
    } else wrong.push(remove(rest, path).join('.'));
  }
  const checked = schema.safeParse(rest);
  if (!checked.success) return [];
  return conflicts(checked.data).filter(
    ({ path, text }) =>
      !wrong.some((key) => `${path.join('.')}.`.startsWith(`${key}.`) || (key !== '' && text.includes(key))),
  );
}

/** Takes a key away, of a list the whole list; returns what was taken. */
function remove(from: object, path: readonly string[]): readonly string[] {
  let at = from as Record<string, unknown>;
  for (const [depth, key] of path.entries()) {
    const next = at[key];
    if (depth === path.length - 1 || typeof next !== 'object' || next === null || Array.isArray(next)) {
      delete at[key];
      return path.slice(0, depth + 1);
    }
    at = next as Record<string, unknown>;
  }
  return path;
}

/** The error for a mistake that shows when a key is used; `path` is the key to point at. */
export function mistakeAt(file: string, lines: KeyLines, conflict: Mistake): ConfigError {
  return new ConfigError(lineFor(file, lines, conflict));
}

function lineFor(file: string, lines: KeyLines, { path, text }: Mistake): string {
  const line = lineOf(lines, path);
  return `${file}${line === undefined ? '' : `:${line}`}: ${path.map(String).join('.')}: ${text}`;
}

function parseText(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    if (looksLikeYaml(text, file)) throw new ConfigError(`${file}: ${NOT_YAML}`, { cause });
    // The parser's message goes on with a drawing of the code: its first line is the fact.
    const fact = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    throw new ConfigError(`${file}:${cause.line}: column ${cause.column}: not valid TOML: ${fact}`, { cause });
  }
}

interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** `listed`: lists of keys that a mistake of the file has shown. One is enough. */
function toMistakes(issue: z.core.$ZodIssue, schema: z.ZodType, listed: Set<string>): readonly Mistake[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, text: issue.message }];
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    return { path, text: `unknown key${foreignKey(path, schema) ?? knownKeys(issue.path, schema, listed)}` };
  });
}

/** The server's file has tables of the same names with other meanings. */
function foreignKey(path: readonly PropertyKey[], schema: z.ZodType): string | undefined {
  const hint = keysAt(schema, []).includes('tunnels') ? foreignKeyHint(path) : undefined;
  return hint === undefined ? undefined : `. ${hint}`;
}

function knownKeys(table: readonly PropertyKey[], schema: z.ZodType, listed: Set<string>): string {
  const known = keysAt(schema, table).join(', ');
  if (listed.has(known)) return '';
  listed.add(known);
  const where = table.length === 0 ? 'the top level' : `[${table.map(String).join('.')}]`;
  return `. The keys of ${where} are ${known}`;
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
  string: 'a string in quotes',
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
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'infinity or NaN';
  return typeof value === 'object' ? 'a table' : `a ${typeof value}`;
}

/** zod's findings in our words. Undefined leaves zod's own (a message that a schema gave wins anyway). */
export function describe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${KINDS[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}, not ${JSON.stringify(issue.input)}`;
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
  return `, not ${String(issue.input)}`;
}
