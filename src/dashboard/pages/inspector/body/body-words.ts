/** Headers of a message that describe its body. */
export interface BodyWords {
  readonly type: string;
  readonly coding: string;
  /** Of the messages of gRPC. */
  readonly grpcCoding: string;
}

/** `valueOf`: the value of a header by its name in lower case; undefined: there is none. */
export function bodyWords(valueOf: (name: string) => string | undefined): BodyWords {
  return {
    type: valueOf('content-type') ?? '',
    coding: valueOf('content-encoding') ?? '',
    grpcCoding: valueOf('grpc-encoding') ?? '',
  };
}

/** Of a record, whose headers are an object by their names: one of a visitor may be called `constructor`. */
export function recordedWords(headers: Readonly<Record<string, string>>): BodyWords {
  return bodyWords((name) => (Object.hasOwn(headers, name) ? headers[name] : undefined));
}
