/**
 * grpc-js as client and as server, through an edge and an agent: the interop cases of grpc that fit a proxy, under their names
 * (doc/interop-test-descriptions.md of grpc).
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect as dial, type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  type Deadline,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { http2Origin, http2Target, message } from '../../../src/agent/http2/testing.ts';
import { Rig } from '../../../src/data/edge/testing/rig.ts';
import { type Message, PAYLOAD } from './messages.ts';
import { METHODS, type Seen, startServer } from './service.ts';

const WITHIN = { timeout: 120_000 };
const NAME = 'shop.example.test';
const GZIP = 2;

/** How a call went, as its client sees it. */
interface Outcome {
  readonly code: number;
  readonly details: string;
  readonly messages: Message[];
  readonly initial: Metadata;
  readonly trailing: Metadata;
}

interface Options {
  readonly metadata?: Metadata;
  readonly deadline?: Deadline;
}

/** A client whose calls go through the edge and an agent to `port`. */
async function clientOf(t: TestContext, port: number, compression = 0): Promise<Client> {
  const rig = await Rig.start(t, { certificateNames: [NAME] });
  await rig.serve('shop', http2Target(port));
  const client = new Client(`127.0.0.1:${rig.httpsPort}`, credentials.createSsl(Buffer.from(rig.certificate)), {
    'grpc.ssl_target_name_override': NAME,
    'grpc.default_authority': NAME,
    'grpc.default_compression_algorithm': compression,
    'grpc.enable_http_proxy': 0,
  });
  t.after(() => client.close());
  return client;
}

async function fixture(t: TestContext): Promise<{ client: Client; seen: Seen }> {
  const { server, port, seen } = await startServer();
  t.after(() => server.forceShutdown());
  return { client: await clientOf(t, port), seen };
}

type Call = ClientDuplexStream<Message, Message>;

/** Begins a call of any kind: what is one message to grpc is a stream of one message on the wire. */
function begin(
  client: Client,
  { path, requestSerialize, responseDeserialize }: AnyMethod,
  options: Options = {},
): Call {
  return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, options.metadata ?? new Metadata(), {
    ...(options.deadline === undefined ? {} : { deadline: options.deadline }),
  });
}

type AnyMethod = MethodDefinition<Message, Message>;

/** Its end, whatever it is. `onMessage`: called for each message. */
function outcomeOf(call: Call, onMessage: (got: Message, count: number) => void = () => undefined): Promise<Outcome> {
  const messages: Message[] = [];
  let initial = new Metadata();
  call.on('metadata', (metadata: Metadata) => (initial = metadata));
  call.on('data', (got: Message) => onMessage(got, messages.push(got)));
  call.on('error', () => undefined); // 'status' says it
  return new Promise((resolve) => {
    call.on('status', ({ code, details, metadata }) =>
      resolve({ code, details, messages, initial, trailing: metadata }),
    );
  });
}

/** A call whose requests are sent at once. */
function ask(client: Client, method: AnyMethod, requests: readonly Message[], options?: Options): Promise<Outcome> {
  const call = begin(client, method, options);
  const outcome = outcomeOf(call);
  for (const request of requests) call.write(request);
  call.end();
  return outcome;
}

function sizesOf({ messages }: Outcome): number[] {
  return messages.map(({ payload }) => payload?.length ?? 0);
}

test('grpc-js: empty_unary', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const { path, requestSerialize, responseDeserialize } = METHODS.emptyCall;
  const got = await new Promise((resolve, reject) =>
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, (error: ServiceError | null, answer) =>
      error === null ? resolve(answer) : reject(error),
    ),
  );
  assert.deepEqual(got, {});
});

test('grpc-js: large_unary', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const request = { sizes: [314_159], payload: Buffer.alloc(271_828) };
  const outcome = await ask(client, METHODS.unaryCall, [request]);
  assert.equal(outcome.code, status.OK);
  assert.deepEqual(sizesOf(outcome), [314_159]);
});

test('grpc-js: client_streaming', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const requests = [27_182, 8, 1_828, 45_904].map((size) => ({ payload: Buffer.alloc(size) }));
  const { code, messages } = await ask(client, METHODS.streamingInputCall, requests);
  assert.equal(code, status.OK);
  assert.deepEqual(messages, [{ total: 74_922 }]);
});

test('grpc-js: server_streaming', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const sizes = [31_415, 9, 2_653, 58_979];
  const outcome = await ask(client, METHODS.streamingOutputCall, [{ sizes }]);
  assert.equal(outcome.code, status.OK);
  assert.deepEqual(sizesOf(outcome), sizes);
});

const PINGS: readonly Message[] = [
  { sizes: [31_415], payload: Buffer.alloc(27_182) },
  { sizes: [9], payload: Buffer.alloc(8) },
  { sizes: [2_653], payload: Buffer.alloc(1_828) },
  { sizes: [58_979], payload: Buffer.alloc(45_904) },
];

test('grpc-js: ping_pong', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const call = begin(client, METHODS.fullDuplexCall);
  // Each message waits for the response to the one before.
  const outcome = outcomeOf(call, (_got, count) => {
    const next = PINGS[count];
    if (next === undefined) call.end();
    else call.write(next);
  });
  call.write(PINGS[0] as Message);
  const ended = await outcome;
  assert.equal(ended.code, status.OK);
  assert.deepEqual(sizesOf(ended), [31_415, 9, 2_653, 58_979]);
});

test('grpc-js: empty_stream', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const outcome = await ask(client, METHODS.fullDuplexCall, []);
  assert.deepEqual([outcome.code, outcome.messages], [status.OK, []]);
});

test('grpc-js: cancel_after_begin', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const call = begin(client, METHODS.streamingInputCall);
  const outcome = outcomeOf(call);
  call.cancel();
  assert.equal((await outcome).code, status.CANCELLED);
  assert.equal((await ask(client, METHODS.emptyCall, [{}])).code, status.OK, 'the connection goes on');
});

test('grpc-js: cancel_after_first_response', WITHIN, async (t) => {
  const { client, seen } = await fixture(t);
  const call = begin(client, METHODS.fullDuplexCall);
  const outcome = outcomeOf(call, () => call.cancel());
  call.write(PINGS[0] as Message);
  assert.equal((await outcome).code, status.CANCELLED);
  while (seen.cancelled === 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('grpc-js: timeout_on_sleeping_server', WITHIN, async (t) => {
  const { client, seen } = await fixture(t);
  // A deadline of 1 ms, as grpc has it, ends the call in the client.
  for (const ms of [1, 500]) {
    const call = begin(client, METHODS.fullDuplexCall, { deadline: Date.now() + ms });
    const outcome = outcomeOf(call);
    call.write({ payload: Buffer.alloc(27_182) });
    assert.equal((await outcome).code, status.DEADLINE_EXCEEDED);
  }
  while (seen.cancelled === 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

const WISH = { code: status.UNKNOWN, message: 'test status message' };
/** Percent-encoded on the way. */
const SPECIAL = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n';

test('grpc-js: status_code_and_message', WITHIN, async (t) => {
  const { client } = await fixture(t);
  for (const method of [METHODS.unaryCall, METHODS.fullDuplexCall]) {
    const { code, details } = await ask(client, method, [{ status: WISH }]);
    assert.deepEqual([code, details], [WISH.code, WISH.message]);
  }
});

test('grpc-js: special_status_message', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const { code, details } = await ask(client, METHODS.unaryCall, [{ status: { ...WISH, message: SPECIAL } }]);
  assert.deepEqual([code, details], [WISH.code, SPECIAL]);
});

test('grpc-js: custom_metadata', WITHIN, async (t) => {
  const { client, seen } = await fixture(t);
  const binary = Buffer.from([0xab, 0xab, 0xab]);
  const metadata = new Metadata();
  metadata.set('x-grpc-test-echo-initial', 'test_initial_metadata_value');
  metadata.set('x-grpc-test-echo-trailing-bin', binary);
  const unary = { sizes: [314_159], payload: Buffer.alloc(271_828) };
  for (const [method, request] of [
    [METHODS.unaryCall, unary],
    [METHODS.fullDuplexCall, unary],
  ] as const) {
    const outcome = await ask(client, method, [request], { metadata });
    assert.equal(outcome.code, status.OK);
    assert.deepEqual(outcome.initial.get('x-grpc-test-echo-initial'), ['test_initial_metadata_value']);
    assert.deepEqual(outcome.trailing.get('x-grpc-test-echo-trailing-bin'), [binary]);
  }
  assert.deepEqual(seen.metadata[0]?.get('x-forwarded-host'), [NAME]);
});

test('grpc-js: unimplemented_method and unimplemented_service', WITHIN, async (t) => {
  const { client } = await fixture(t);
  const service = { ...METHODS.emptyCall, path: '/grpc.testing.UnimplementedService/UnimplementedCall' };
  for (const method of [METHODS.unimplementedCall, service])
    assert.equal((await ask(client, method, [{}])).code, status.UNIMPLEMENTED);
});

/** Counts what goes to `port` through it. */
async function counted(t: TestContext, port: number): Promise<{ port: number; bytes(): number }> {
  let bytes = 0;
  const relay = createServer((socket) => {
    const far = dial(port, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    socket.on('error', () => far.destroy());
    far.on('error', () => socket.destroy());
    socket.pipe(far).pipe(socket);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => relay.close());
  return { port: (relay.address() as AddressInfo).port, bytes: () => bytes };
}

test('grpc-js: client_compressed_unary and client_compressed_streaming', WITHIN, async (t) => {
  const { server, port } = await startServer();
  t.after(() => server.forceShutdown());
  const relay = await counted(t, port);
  const client = await clientOf(t, relay.port, GZIP);
  const unary = await ask(client, METHODS.unaryCall, [{ sizes: [314_159], payload: Buffer.alloc(271_828) }]);
  assert.deepEqual([unary.code, sizesOf(unary)], [status.OK, [314_159]]);
  const requests = [27_182, 45_904].map((size) => ({ payload: Buffer.alloc(size) }));
  const stream = await ask(client, METHODS.streamingInputCall, requests);
  assert.deepEqual([stream.code, stream.messages], [status.OK, [{ total: 73_086 }]]);
  assert.ok(relay.bytes() < 20_000, `${relay.bytes()} bytes came to the service`);
});

test('grpc-js: server_compressed_unary and server_compressed_streaming', WITHIN, async (t) => {
  // The server of grpc-js compresses nothing: its client reads what a service has compressed.
  const payloads = [Buffer.alloc(31_415, 'a'), Buffer.alloc(92_653, 'b')];
  const origin = await http2Origin(t, (stream) => {
    stream.resume();
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const [first, second] = payloads.map((payload) => PAYLOAD.encode({ payload })) as [Buffer, Buffer];
    // One of them compressed and one not, as in a stream of grpc's case.
    stream.write(message(gzipSync(first).toString('latin1'), true));
    stream.end(message(second.toString('latin1')));
  });
  const client = await clientOf(t, origin.port);
  const outcome = await ask(client, METHODS.streamingOutputCall, [{ sizes: [31_415, 92_653] }]);
  assert.equal(outcome.code, status.OK);
  assert.deepEqual(
    outcome.messages,
    payloads.map((payload) => ({ payload })),
  );
});
