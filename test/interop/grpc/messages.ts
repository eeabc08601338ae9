/** Messages of grpc.testing as the interop tests use them (test.proto, messages.proto of grpc), written and read by hand. */

/** A message of any of the types; each method has its own subset. */
export interface Message {
  /** Of the body of its payload. */
  readonly payload?: Buffer;
  /** Of the responses that it asks for. */
  readonly sizes?: readonly number[];
  /** The status that it asks for. */
  readonly status?: { readonly code: number; readonly message: string };
  /** What a client stream has brought in all. */
  readonly total?: number;
}

type Field = readonly [number: number, value: number | Buffer];

const LENGTH = 2;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left & 127) | 128);
  return Buffer.from([...bytes, left]);
}

function encode(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) =>
      typeof value === 'number'
        ? [varint(number * 8), varint(value)]
        : [varint(number * 8 + LENGTH), varint(value.length), value],
    ),
  );
}

function decode(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('a message is cut short');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = read();
    const value = read();
    if ((tag & 7) !== LENGTH) fields.push([tag >>> 3, value]);
    else {
      fields.push([tag >>> 3, bytes.subarray(at, at + value)]);
      at += value;
    }
  }
  return fields;
}

function body(payload: Buffer | undefined): Field[] {
  return payload === undefined ? [] : [[2, payload]];
}

function part(number: number, fields: readonly Field[]): Field[] {
  return fields.length === 0 ? [] : [[number, encode(fields)]];
}

function statusPart({ status }: Message): Field[] {
  return status === undefined
    ? []
    : part(7, [
        [1, status.code],
        [2, Buffer.from(status.message)],
      ]);
}

function within(fields: readonly Field[], number: number): Field[] | undefined {
  const value = fields.find((field) => field[0] === number)?.[1];
  return Buffer.isBuffer(value) ? decode(value) : undefined;
}

/** What is in any of the messages: their numbers for the same thing are the same, but for the sizes. */
function read(fields: readonly Field[], payloadNumber: number, sizes: readonly number[]): Message {
  const payload = within(fields, payloadNumber)?.find(([number]) => number === 2)?.[1];
  const status = within(fields, 7);
  return {
    ...(Buffer.isBuffer(payload) ? { payload } : {}),
    ...(sizes.length > 0 ? { sizes } : {}),
    ...(status === undefined
      ? {}
      : { status: { code: Number(status[0]?.[1]), message: String(status[1]?.[1] ?? '') } }),
  };
}

export interface Type {
  readonly encode: (message: Message) => Buffer;
  readonly decode: (bytes: Buffer) => Message;
}

export const EMPTY: Type = { encode: () => Buffer.alloc(0), decode: () => ({}) };

export const SIMPLE_REQUEST: Type = {
  encode: (message) =>
    encode([
      ...(message.sizes ?? []).map((size): Field => [2, size]),
      ...part(3, body(message.payload)),
      ...statusPart(message),
    ]),
  decode(bytes) {
    const fields = decode(bytes);
    return read(
      fields,
      3,
      fields.filter(([number]) => number === 2).map(([, value]) => Number(value)),
    );
  },
};

/** Also the response, and the request, of a stream: one payload. */
export const PAYLOAD: Type = {
  encode: ({ payload }) => encode(part(1, body(payload))),
  decode: (bytes) => read(decode(bytes), 1, []),
};

export const TOTAL: Type = {
  encode: ({ total = 0 }) => encode([[1, total]]),
  decode: (bytes) => ({ total: Number(decode(bytes)[0]?.[1] ?? 0) }),
};

export const OUTPUT_REQUEST: Type = {
  encode: (message) =>
    encode([
      ...(message.sizes ?? []).flatMap((size) => part(2, [[1, size]])),
      ...part(3, body(message.payload)),
      ...statusPart(message),
    ]),
  decode(bytes) {
    const fields = decode(bytes);
    const parameters = fields.filter(([number]) => number === 2).map(([, value]) => decode(value as Buffer));
    return read(
      fields,
      3,
      parameters.map((fields) => Number(fields[0]?.[1] ?? 0)),
    );
  },
};
