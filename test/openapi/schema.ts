/**
 * JSON Schema 2020-12 as far as the API document uses it. A keyword that it does not know is a fault: nothing in the document goes unchecked.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Document, Schema } from './document.ts';

const ANNOTATIONS = new Set(['description', 'example', 'examples', 'default', 'title', 'deprecated']);
const CHECKED = new Set([
  ...['$ref', 'type', 'enum', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'items', 'minItems'],
  ...['maxItems', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['allOf', 'anyOf', 'oneOf'],
]);

const FORMATS: Readonly<Record<string, { test(text: string): boolean }>> = {
  ipv4: { test: isIPv4 },
  ipv6: { test: (text) => isIPv6(text) && !text.includes('%') },
  'date-time':
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  // Says how a form shows it.
  password: /^/,
};

export class Schemas {
  readonly #document: Document;

  constructor(document: Document) {
    this.#document = document;
  }

  resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    const found = this.#document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`${schema.$ref} is not in the document`);
    return this.resolve(found);
  }

  /** What a value of this schema may look like: its example, or one of its properties' examples. */
  exampleOf(schema: Schema): unknown {
    const one = this.resolve(schema);
    if (one.example !== undefined || one.properties === undefined) return one.example;
    const required = Object.entries(one.properties).filter(([name]) => one.required?.includes(name) === true);
    return Object.fromEntries(required.map(([name, each]) => [name, this.exampleOf(each)]));
  }

  /** Every property that an object of this schema may have by name. */
  propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
    const one = this.resolve(schema);
    const parts = [...(one.allOf ?? []), ...(one.anyOf ?? []), ...(one.oneOf ?? [])];
    return Object.assign({}, ...parts.map((part) => this.propertiesOf(part)), one.properties) as Record<string, Schema>;
  }

  /** What is wrong with the value, by JSON pointer. Without `open` an object's undocumented property is a fault too. */
  faults(schema: Schema, value: unknown, { at = '', open = false, extra = false } = {}): readonly string[] {
    const one = this.resolve(schema);
    const said: string[] = Object.keys(one)
      .filter((key) => !ANNOTATIONS.has(key) && !CHECKED.has(key))
      .map((key) => `${at}: the validator does not know ${key}`);
    const types = one.type === undefined ? undefined : [one.type].flat();
    if (types !== undefined && !types.some((type) => isOf(type, value)))
      return [...said, `${at}: not ${types.join(' or ')}`];
    if (one.enum !== undefined && !one.enum.some((each) => isDeepStrictEqual(each, value)))
      said.push(`${at}: not of the enum`);
    said.push(...this.#partFaults(one, value, at, open));
    if (typeof value === 'string') said.push(...textFaults(one, value, at));
    if (typeof value === 'number') {
      if (value < (one.minimum ?? -Infinity)) said.push(`${at}: below ${one.minimum}`);
      if (value > (one.maximum ?? Infinity)) said.push(`${at}: above ${one.maximum}`);
    }
    if (Array.isArray(value)) {
      if (value.length < (one.minItems ?? 0)) said.push(`${at}: fewer than ${one.minItems} items`);
      if (value.length > (one.maxItems ?? Infinity)) said.push(`${at}: more than ${one.maxItems} items`);
      for (const [i, item] of value.entries())
        if (one.items !== undefined) said.push(...this.faults(one.items, item, { at: `${at}/${i}`, open }));
    } else if (isOf('object', value)) said.push(...this.#objectFaults(one, value as object, at, open, extra));
    return said;
  }

  #partFaults(one: Schema, value: unknown, at: string, open: boolean): readonly string[] {
    const of = (part: Schema) => this.faults(part, value, { at, open, extra: true });
    const said = (one.allOf ?? []).flatMap(of);
    if (one.anyOf !== undefined && !one.anyOf.some((part) => of(part).length === 0))
      said.push(`${at}: none of anyOf: ${one.anyOf.map((part) => of(part).join(', ')).join(' | ')}`);
    const fitting = one.oneOf?.filter((part) => of(part).length === 0).length ?? 1;
    if (fitting !== 1) said.push(`${at}: ${fitting} of oneOf`);
    return said;
  }

  #objectFaults(one: Schema, value: object, at: string, open: boolean, extra: boolean): readonly string[] {
    const said: string[] = [];
    const known = this.propertiesOf(one);
    const { length } = Object.keys(value);
    if (length < (one.minProperties ?? 0)) said.push(`${at}: fewer than ${one.minProperties} properties`);
    if (length > (one.maxProperties ?? Infinity)) said.push(`${at}: more than ${one.maxProperties} properties`);
    for (const name of one.required ?? []) if (!Object.hasOwn(value, name)) said.push(`${at}/${name}: missing`);
    const isTyped = one.type !== undefined || one.properties !== undefined || one.allOf !== undefined;
    for (const [name, each] of Object.entries(value)) {
      const own = one.properties?.[name];
      if (own !== undefined) said.push(...this.faults(own, each, { at: `${at}/${name}`, open }));
      else if (typeof one.additionalProperties === 'object')
        said.push(...this.faults(one.additionalProperties, each, { at: `${at}/${name}`, open }));
      else if (one.additionalProperties === false) said.push(`${at}/${name}: not allowed`);
      // `type: object` alone is an object of any kind.
      else if (!open && !extra && isTyped && Object.keys(known).length > 0 && !Object.hasOwn(known, name))
        said.push(`${at}/${name}: not documented`);
    }
    return said;
  }
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function textFaults(one: Schema, value: string, at: string): readonly string[] {
  const said: string[] = [];
  // JSON Schema counts characters, not UTF-16 units.
  const { length } = Array.from(value);
  if (length < (one.minLength ?? 0)) said.push(`${at}: shorter than ${one.minLength}`);
  if (length > (one.maxLength ?? Infinity)) said.push(`${at}: longer than ${one.maxLength}`);
  if (one.pattern !== undefined && !new RegExp(one.pattern, 'u').test(value)) said.push(`${at}: not by the pattern`);
  if (one.format !== undefined) {
    const format = FORMATS[one.format];
    if (format === undefined) said.push(`${at}: the validator does not know the format ${one.format}`);
    else if (!format.test(value)) said.push(`${at}: no ${one.format}`);
  }
  return said;
}
