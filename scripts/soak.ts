/**
 * `npm run soak -- --requests 10000 [--seed N] [--parallel N]`: mixed requests through one tunnel, with random sizes, slow readers and
 * aborts on both sides; every byte is checked on both sides. Ends with code 1 at the first byte that is wrong, or when a server, an agent
 * or a request does not come to its end.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startTrial, type Trial } from './quickstart/trial.ts';
import { Dice } from './soak/dice.ts';

const PIECE = 16 * 1024;
const REQUEST_DEADLINE_MS = 60_000;

interface Plan {
  readonly seed: number;
  readonly up: number;
  readonly down: number;
  /** The visitor leaves in the middle. */
  readonly visitorLeaves: boolean;
  /** The local service cuts the connection in the middle. */
  readonly serviceLeaves: boolean;
  readonly slowVisitor: boolean;
  readonly slowService: boolean;
}

/** Mostly small, sometimes large: what crosses windows and buffers. */
function size(dice: Dice): number {
  return dice.pick([
    0,
    1,
    dice.below(200),
    dice.below(5_000),
    dice.below(70_000),
    dice.below(20) === 0 ? dice.below(8_000_000) : dice.below(1_000),
  ]);
}

function makePlan(seed: number): Plan {
  const dice = new Dice(seed);
  const one = (chance: number): boolean => dice.below(chance) === 0;
  return {
    seed,
    up: size(dice),
    down: size(dice),
    visitorLeaves: one(20),
    serviceLeaves: one(25),
    slowVisitor: one(15),
    slowService: one(15),
  };
}

/** `length` bytes that anybody can make again from the seed. */
function* bytes(seed: number, length: number): Generator<Buffer> {
  const block = createHash('sha512').update(String(seed)).digest();
  const piece = Buffer.alloc(PIECE, block);
  for (let sent = 0; sent < length; sent += PIECE) yield piece.subarray(0, Math.min(PIECE, length - sent));
}

function hashOf(seed: number, length: number): string {
  const hash = createHash('sha256');
  for (const piece of bytes(seed, length)) hash.update(piece);
  return hash.digest('hex');
}

/** Reads to the end, with pauses when slow. */
async function digest(stream: IncomingMessage, slow: boolean): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) {
    hash.update(piece as Buffer);
    if (slow) await wait(1);
  }
  return hash.digest('hex');
}

/** The local service: checks what came, answers what the plan says. */
async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const plan = makePlan(Number(incoming.headers['x-plan']));
  try {
    const got = await digest(incoming, plan.slowService);
    const right = got === hashOf(plan.seed, plan.up);
    response.writeHead(right ? 200 : 418, plan.seed % 2 === 0 ? { 'content-length': plan.down } : {});
    if (plan.serviceLeaves) {
      response.write(Buffer.alloc(Math.min(plan.down, 100)), () => incoming.socket.destroy());
      return;
    }
    await pipeline(Readable.from(bytes(plan.seed + 1, plan.down)), response);
  } catch {
    response.destroy(); // the visitor left: the plan may say so, and the visitor's side judges
  }
}

type Outcome = 'whole' | 'left' | 'cut';

/** One request. Throws when a byte is wrong, or when something ended that should not have. */
async function visitOnce(trial: Trial, plan: Plan, agent: Agent): Promise<Outcome> {
  const outgoing = request({
    host: '127.0.0.1',
    port: trial.port,
    method: 'POST',
    agent,
    signal: AbortSignal.timeout(REQUEST_DEADLINE_MS),
    headers: { host: trial.host, 'x-plan': plan.seed, ...(plan.seed % 3 === 0 ? { 'content-length': plan.up } : {}) },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  const sent = pipeline(Readable.from(bytes(plan.seed, plan.up)), outgoing);
  if (plan.visitorLeaves) {
    setImmediate(() => outgoing.destroy());
    await Promise.allSettled([answered, sent]);
    return 'left';
  }
  try {
    const [[response]] = await Promise.all([answered, sent]);
    if (plan.serviceLeaves && response.statusCode === 502) return response.resume(), 'cut';
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    const got = await digest(response, plan.slowVisitor);
    if (plan.serviceLeaves) return 'cut';
    if (got !== hashOf(plan.seed + 1, plan.down)) throw new Error('the answer has wrong bytes');
    return 'whole';
  } catch (cause) {
    if (plan.serviceLeaves) return 'cut';
    throw new Error(`request ${JSON.stringify(plan)} failed`, { cause });
  }
}

async function soak(options: { requests: number; seed: number; parallel: number }): Promise<void> {
  const service = createServer((incoming, response) => void serve(incoming, response));
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const address = service.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const trial = await startTrial(address.port);
  const agent = new Agent({ keepAlive: true, maxSockets: options.parallel });
  const outcomes: Record<Outcome, number> = { whole: 0, left: 0, cut: 0 };
  console.log(`soaking with ${options.requests} requests, ${options.parallel} at once, seed ${options.seed}`);
  const start = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < options.requests) {
      const plan = makePlan(options.seed + next++);
      outcomes[await visitOnce(trial, plan, agent)]++;
      if (next % 2000 === 0) console.log(`  ${next} requests, ${((performance.now() - start) / 1000).toFixed(0)} s`);
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, lane));
  agent.destroy();
  await trial.close();
  service.close().closeAllConnections();
  console.log(
    `${outcomes.whole} whole and right on both sides, ${outcomes.left} left by the visitor, ${outcomes.cut} cut by the service`,
  );
}

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    parallel: { type: 'string', default: '32' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
await soak({ requests: Number(values.requests), parallel: Number(values.parallel), seed: Number(values.seed) });
