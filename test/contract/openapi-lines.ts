/**
 * The OpenAPI document as text that a person can compare: a block per operation and per schema, a line per field. Without descriptions, summaries
 * and examples; but the error codes are kept, which the document gives as names of examples. A keyword that is not known here is kept as JSON.
 */
import { type Block, textOf } from './blocks.ts';

type Json = Readonly<Record<string, unknown>>;

const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples']);
/** Longer enumerations have a line per value, so that a difference names the value. */
const MAX_VALUES = 8;
const ALTERNATIVES: Readonly<Record<string, string>> = { anyOf: ' | ', oneOf: ' || ', allOf: ' & ' };

export function openApiText(document: unknown): string {
  const { openapi, paths, components, security, tags } = record(document);
  const { schemas, ...others } = record(components);
  const about: Block = {
    heading: 'document',
    lines: [
      `openapi: ${String(openapi)}`,
      `security: ${JSON.stringify(security)}`,
      ...list(tags).map((tag) => `tag ${String(record(tag)['name'])}`),
      ...entries(others).flatMap(([kind, named]) =>
        entries(named).map(([name, value]) => `${kind} ${name}: ${keywords(record(value))}`),
      ),
    ],
  };
  const operations = entries(paths).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => ({
      heading: `${method.toUpperCase()} ${path}`,
      lines: operationLines(record(operation)),
    })),
  );
  const shapes = entries(schemas).map(([name, schema]) => ({
    heading: `schema ${name}`,
    lines: schemaLines('', record(schema)),
  }));
  return textOf([about, ...operations, ...shapes]);
}

function operationLines({ parameters, requestBody, responses, ...rest }: Json): string[] {
  const lines = list(parameters).flatMap((parameter) => {
    const { name, in: place, required, schema, ...others } = record(parameter);
    return schemaLines(`${String(place)} ${named(String(name), required === true)}`, { ...record(schema), ...others });
  });
  if (requestBody !== undefined) {
    const { content, required } = record(requestBody);
    lines.push(...mediaLines(named('body', required === true), content));
  }
  for (const [status, response] of entries(responses)) lines.push(...responseLines(status, record(response)));
  const others = entries(rest).filter(([keyword]) => !PROSE.has(keyword));
  return [...lines, ...others.map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`)];
}

function responseLines(status: string, { content, headers, ...rest }: Json): string[] {
  const media = mediaLines(status, content);
  const own = keywords(rest);
  const fields = entries(headers).flatMap(([name, header]) => {
    const { schema, required, ...others } = record(header);
    return schemaLines(`${status} header ${named(name, required === true)}`, { ...record(schema), ...others });
  });
  return [...(media.length === 0 || own !== '' ? [line(status, own)] : []), ...media, ...fields];
}

/** A body in each of its types. Codes stand behind the schema of an error. */
function mediaLines(prefix: string, content: unknown): string[] {
  return entries(content).flatMap(([type, media]) => {
    const { schema, examples } = record(media);
    const codes = /^[45]/.test(prefix) ? Object.keys(record(examples)).sort() : [];
    const where = [prefix, ...(type === 'application/json' ? [] : [type]), ...codes].join(' ');
    return schema === undefined ? [where] : schemaLines(where, record(schema));
  });
}

/** `name?` may be missing, `name[]` is a list of these, `name{}` has values like this by any name. */
function schemaLines(path: string, schema: Json): string[] {
  const { properties, required, items, additionalProperties, ...rest } = schema;
  const needed = new Set(list(required));
  const parts = entries(properties).flatMap(([name, field]) => {
    needed.delete(name);
    const isNeeded = list(required).includes(name);
    return schemaLines([path, named(name, isNeeded)].filter((part) => part !== '').join('.'), record(field));
  });
  if (items !== undefined) parts.push(...schemaLines(`${path}[]`, record(items)));
  const isOpen = typeof additionalProperties === 'object' && entries(additionalProperties).length > 0;
  if (isOpen) parts.push(...schemaLines(`${path}{}`, record(additionalProperties)));

  for (const [keyword, sign] of Object.entries(ALTERNATIVES)) {
    if (rest[keyword] === undefined) continue;
    // An alternative of prose alone says nothing of the form.
    const schemas = list(rest[keyword]).filter((way) => keywords(record(way)) !== '');
    const ways = schemas.map((way) => schemaLines('', record(way)));
    const isShort = ways.every((way) => way.length === 1 && !way[0]?.includes(':'));
    if (isShort) parts.push(line(path, ways.flat().sort().join(sign)));
    else
      parts.push(
        ...schemas.flatMap((way, index) => schemaLines(`${path} ${keyword} ${index + 1}`.trim(), record(way))),
      );
  }
  const values = list(rest['enum']);
  const isLong = values.length > MAX_VALUES;
  if (isLong) parts.push(...values.map((value) => `${path} value ${JSON.stringify(value)}`.trim()));
  const own = keywords({
    ...Object.fromEntries(entries(rest).filter(([key]) => !(key in ALTERNATIVES || (isLong && key === 'enum')))),
    ...(needed.size > 0 ? { required: [...needed].sort() } : {}),
    ...(additionalProperties === undefined || isOpen ? {} : { additionalProperties }),
  });
  // What has fields is an object, and what has members is a list.
  const isSaid =
    own === '' ||
    (own === 'object' && (properties !== undefined || isOpen)) ||
    (own === 'array' && items !== undefined);
  return isSaid && parts.length > 0 ? parts : [line(path, own === '' ? 'any' : own), ...parts];
}

/** `string format=uuid maxLength=64`. */
function keywords(schema: Json): string {
  const { type, $ref, enum: values, ...rest } = schema;
  const others = entries(rest).filter(([keyword]) => !PROSE.has(keyword));
  return [
    ...(type === undefined ? [] : [list(type).length > 0 ? list(type).join('|') : String(type)]),
    ...(typeof $ref === 'string' ? [$ref.replace('#/components/schemas/', '')] : []),
    ...(values === undefined
      ? []
      : [
          `(${list(values)
            .map((value) => JSON.stringify(value))
            .sort()
            .join(' ')})`,
        ]),
    ...others.map(([keyword, value]) => `${keyword}=${JSON.stringify(value)}`).sort(),
  ].join(' ');
}

const named = (name: string, isNeeded: boolean): string => (isNeeded ? name : `${name}?`);
const line = (path: string, text: string): string => [path, text].filter((part) => part !== '').join(': ');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const entries = (value: unknown): Array<[string, unknown]> => Object.entries(record(value));
