/** Values that fit a schema of the API document, for fast-check: examples, limits, and what is between. */
import fc from 'fast-check';
import type { Schema } from './document.ts';
import type { Schemas } from './schema.ts';

const MOST_ITEMS = 3;
/** Without `maxLength`: longer text is cut by the limit of bodies. */
const LONG_TEXT = 300;
const LARGE = 2 ** 31;
/** Values in a row that do not fit. */
const MOST_MISSES = 1_000;

/** Of the size limits that a schema names, values at the limit are made as often as others. */
export function valueOf(schemas: Schemas, schema: Schema): fc.Arbitrary<unknown> {
  const one = schemas.resolve(schema);
  let misses = 0;
  const made = madeOf(schemas, one).filter((value) => {
    const faults = schemas.faults(one, value, { open: true });
    misses = faults.length === 0 ? 0 : misses + 1;
    if (misses > MOST_MISSES) throw new Error(`no value fits ${JSON.stringify(one)}: ${faults.join(', ')}`);
    return faults.length === 0;
  });
  return one.example === undefined ? made : fc.oneof(fc.constant(one.example), { arbitrary: made, weight: 3 });
}

function madeOf(schemas: Schemas, one: Schema): fc.Arbitrary<unknown> {
  if (one.enum !== undefined) return fc.constantFrom(...one.enum);
  const parts = one.anyOf ?? one.oneOf;
  if (parts !== undefined && one.properties === undefined)
    return fc.oneof(
      ...parts.map((part) => valueOf(schemas, { ...(one.type === undefined ? {} : { type: one.type }), ...part })),
    );
  if (one.allOf !== undefined)
    return fc
      .tuple(
        ...[...one.allOf, { properties: one.properties ?? {}, required: one.required ?? [] }].map((part) =>
          objectOf(schemas, part),
        ),
      )
      .map((all) => Object.assign({}, ...all) as unknown);
  const types = one.type === undefined ? [] : [one.type].flat();
  if (types.length === 0) return one.properties === undefined ? fc.jsonValue({ maxDepth: 1 }) : objectOf(schemas, one);
  return fc.oneof(...types.map((type) => typed(schemas, { ...one, type }, type)));
}

function typed(schemas: Schemas, one: Schema, type: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return textOf(one);
    case 'integer':
      return fc.integer({ min: one.minimum ?? -LARGE, max: Math.min(one.maximum ?? LARGE, Number.MAX_SAFE_INTEGER) });
    case 'number':
      return fc.double({ min: one.minimum ?? -LARGE, max: one.maximum ?? LARGE, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const minLength = one.minItems ?? 0;
      const maxLength = Math.min(one.maxItems ?? MOST_ITEMS, minLength + MOST_ITEMS);
      return fc.array(one.items === undefined ? fc.jsonValue() : valueOf(schemas, one.items), { minLength, maxLength });
    }
    default:
      return objectOf(schemas, one);
  }
}

/** A property that the document does not name is to be ignored, or is checked by `additionalProperties`. */
export function objectOf(schemas: Schemas, schema: Schema): fc.Arbitrary<object> {
  const one = schemas.resolve(schema);
  const named = fc.record(
    Object.fromEntries(Object.entries(one.properties ?? {}).map(([name, each]) => [name, valueOf(schemas, each)])),
    { requiredKeys: [...(one.required ?? [])] },
  );
  const rest =
    typeof one.additionalProperties === 'object' ? valueOf(schemas, one.additionalProperties) : fc.jsonValue();
  const more = fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), rest, { maxKeys: 2 });
  return fc.tuple(named, fc.oneof(fc.constant({}), more)).map(([known, other]) => ({ ...other, ...known }));
}

function textOf(one: Schema): fc.Arbitrary<string> {
  if (one.pattern !== undefined) return matching(one.pattern);
  if (one.format === 'uuid') return fc.uuid();
  if (one.format === 'uri') return fc.webUrl();
  if (one.format === 'ipv4') return fc.ipV4();
  if (one.format === 'ipv6') return fc.ipV6();
  if (one.format === 'date-time') return fc.date({ noInvalidDate: true, ...ERA }).map((date) => date.toISOString());
  if (one.format === 'date')
    return fc.date({ noInvalidDate: true, ...ERA }).map((date) => date.toISOString().slice(0, 10));
  const minLength = one.minLength ?? 0;
  const maxLength = one.maxLength ?? LONG_TEXT;
  const some = { minLength, maxLength: Math.min(maxLength, Math.max(minLength, 40)) };
  return fc.oneof(
    fc.string({ unit: 'grapheme-ascii', ...some }),
    fc.string({ unit: 'binary', ...some }),
    fc.constantFrom('a'.repeat(maxLength), '😀'.repeat(maxLength), 'a'.repeat(minLength)),
    fc.constantFrom(` ${'a'.repeat(Math.max(0, maxLength - 1))}`, ' '.repeat(Math.max(minLength, 1))),
  );
}

const ERA = { min: new Date('1970-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') };

/** Made once: reading a pattern takes long. */
const made = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
  let arbitrary = made.get(pattern);
  if (arbitrary === undefined)
    made.set(pattern, (arbitrary = fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: LONG_TEXT })));
  return arbitrary;
}
