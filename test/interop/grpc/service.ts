/** grpc.testing.TestService by grpc-js, as far as the cases need it (interop-test-descriptions.md of grpc). */
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
} from '@grpc/grpc-js';
import { EMPTY, type Message, OUTPUT_REQUEST, PAYLOAD, SIMPLE_REQUEST, TOTAL, type Type } from './messages.ts';

const ECHO_INITIAL = 'x-grpc-test-echo-initial';
const ECHO_TRAILING = 'x-grpc-test-echo-trailing-bin';

type Method = MethodDefinition<Message, Message>;

function method(name: string, types: readonly [request: Type, response: Type], streams = ''): Method {
  const [request, response] = types;
  return {
    path: `/grpc.testing.TestService/${name}`,
    requestStream: streams.includes('request'),
    responseStream: streams.includes('response'),
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
  };
}

export const METHODS = {
  emptyCall: method('EmptyCall', [EMPTY, EMPTY]),
  unaryCall: method('UnaryCall', [SIMPLE_REQUEST, PAYLOAD]),
  streamingInputCall: method('StreamingInputCall', [PAYLOAD, TOTAL], 'request'),
  streamingOutputCall: method('StreamingOutputCall', [OUTPUT_REQUEST, PAYLOAD], 'response'),
  fullDuplexCall: method('FullDuplexCall', [OUTPUT_REQUEST, PAYLOAD], 'request response'),
  /** No server has it. */
  unimplementedCall: method('UnimplementedCall', [EMPTY, EMPTY]),
} as const;

/** What a server has seen that no response tells. */
export interface Seen {
  readonly metadata: Metadata[];
  cancelled: number;
}

export interface TestServer {
  readonly server: Server;
  readonly port: number;
  readonly seen: Seen;
}

/** `compression`: 2 for gzip. */
export async function startServer(compression = 0): Promise<TestServer> {
  const server = new Server({ 'grpc.default_compression_algorithm': compression });
  const seen: Seen = { metadata: [], cancelled: 0 };
  const { unimplementedCall: _, ...definitions } = METHODS;
  server.addService(definitions, handlers(seen));
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { server, port, seen };
}

interface Call {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
  on(event: 'cancelled', listener: () => void): unknown;
}

/** Sends back what is to be echoed. Answers the trailing metadata. */
function begin(call: Call, seen: Seen): Metadata {
  seen.metadata.push(call.metadata);
  call.on('cancelled', () => seen.cancelled++);
  const trailing = new Metadata();
  for (const value of call.metadata.get(ECHO_TRAILING)) trailing.add(ECHO_TRAILING, value);
  const initial = new Metadata();
  for (const value of call.metadata.get(ECHO_INITIAL)) initial.add(ECHO_INITIAL, value);
  if (initial.get(ECHO_INITIAL).length > 0) call.sendMetadata(initial);
  return trailing;
}

function failure(status: NonNullable<Message['status']>, metadata: Metadata): object {
  return { code: status.code, details: status.message, metadata };
}

function handlers(seen: Seen) {
  const emptyCall: handleUnaryCall<Message, Message> = (call, done) => done(null, {}, begin(call, seen));
  const unaryCall: handleUnaryCall<Message, Message> = (call, done) => {
    const trailing = begin(call, seen);
    const { status, sizes = [] } = call.request;
    if (status !== undefined && status.code !== 0) return done(failure(status, trailing));
    done(null, { payload: Buffer.alloc(sizes[0] ?? 0) }, trailing);
  };
  const streamingInputCall: handleClientStreamingCall<Message, Message> = (call, done) => {
    const trailing = begin(call, seen);
    let total = 0;
    call.on('data', ({ payload }: Message) => (total += payload?.length ?? 0));
    call.on('end', () => done(null, { total }, trailing));
  };
  const streamingOutputCall: handleServerStreamingCall<Message, Message> = (call) => {
    const trailing = begin(call, seen);
    for (const size of call.request.sizes ?? []) call.write({ payload: Buffer.alloc(size) });
    call.end(trailing);
  };
  const fullDuplexCall: handleBidiStreamingCall<Message, Message> = (call) => {
    const trailing = begin(call, seen);
    call.on('data', ({ sizes = [], status }: Message) => {
      for (const size of sizes) call.write({ payload: Buffer.alloc(size) });
      if (status !== undefined && status.code !== 0) call.emit('error', failure(status, trailing));
    });
    call.on('end', () => call.end(trailing));
  };
  return { emptyCall, unaryCall, streamingInputCall, streamingOutputCall, fullDuplexCall };
}
