/** One mistake at a time in a request that fits the document. */
import type { Schema } from './document.ts';
import type { Schemas } from './schema.ts';

export interface Mistake {
  readonly what: string;
  readonly value: unknown;
}

/** What a value of this schema may not be: another type, too long, too large, outside of the enum, and the same of all that is in it. */
export function mistakesIn(schemas: Schemas, schema: Schema, value: unknown, at = ''): readonly Mistake[] {
  const one = schemas.resolve(schema);
  const all = [...wrongValues(one).map((wrong) => ({ what: `${at || 'body'} = ${short(wrong)}`, value: wrong }))];
  if (isObject(value)) {
    for (const [name, each] of Object.entries(schemas.propertiesOf(one))) {
      const { [name]: own, ...others } = value;
      all.push({ what: `${at}/${name} missing`, value: others });
      const known = own ?? schemas.resolve(each).example;
      for (const wrong of mistakesIn(schemas, each, known, `${at}/${name}`))
        all.push({ what: wrong.what, value: { ...value, [name]: wrong.value } });
    }
  }
  if (Array.isArray(value) && one.items !== undefined) {
    for (const wrong of mistakesIn(schemas, one.items, value[0], `${at}/0`))
      all.push({ what: wrong.what, value: [wrong.value, ...value.slice(1)] });
    all.push({ what: `${at}: many items`, value: Array.from({ length: (one.maxItems ?? 0) + 1 }, () => value[0]) });
  }
  return all.filter((mistake) => schemas.faults(one, mistake.value, { open: true }).length > 0);
}

function wrongValues(one: Schema): readonly unknown[] {
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0 } = one;
  return [
    ...['x', '', 5, 1.5, true, null, [], ['x'], {}, { x: 1 }, '\u0000', 'no such value'],
    ...(minLength > 1 ? ['a'.repeat(minLength - 1)] : []),
    ...(maxLength === undefined
      ? []
      : ['a'.repeat(maxLength + 1), ` ${'a'.repeat(maxLength)}`, '😀'.repeat(maxLength + 1)]),
    ...(minimum === undefined ? [] : [minimum - 1, -LARGEST]),
    ...(maximum === undefined ? [] : [maximum + 1, LARGEST, 1e300]),
    ...(minItems === 0 ? [] : [[]]),
  ];
}

const LARGEST = Number.MAX_SAFE_INTEGER;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 37)}… (${text.length})` : text;
}
