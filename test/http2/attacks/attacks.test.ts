// from source: the server under attack is a child process that is started from its source
/**
 * Attacks on the edge's HTTP/2, each from one connection with frames written by hand: the connection is ended, the reason is counted, and neither
 * processor time nor memory of the server, a process of its own, goes beyond what is set here.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FLAG, literals, request } from '../../harness/h2-frames.ts';
import { inReverse } from '../../harness/ends.ts';
import { headers, OPEN } from '../conformance/case.ts';
import { ENGINE } from '../engines.ts';
import { ERROR, PREFACE, SETTING, settingsFrame } from '../raw-client.ts';
import { type Attack, ATTACKS } from './attacks.ts';
import { UNENDED } from './known.ts';
import { type Cost, honest, run, wait } from './run.ts';
import { Target } from './target.ts';

const WITHIN = { timeout: 60_000 };
/** A handshake and a megabyte of frames, on a machine that is busy: several times what it takes. nghttp2 takes more. */
const CPU_MS = 250;
/** Five hundred requests that attack nothing take no more on the machine that these limits are for; a slower one gets as much more for all. */
const HONEST_MS = 600;
/** A machine slower than that is no measure of a server, nor is a server that is slow with all requests. */
const MOST_SLOW = 4;
const SCALE = ENGINE === 'node' ? 6 : 1;
const GROWTH = 48 << 20;
/** One that is known not to be ended goes on so long. */
const KNOWN_MS = 1_000;
const unended = UNENDED[ENGINE];

let target: Target;
let slowness = 1;
const ends = inReverse({ after });
before(async () => {
  target = await Target.start(ends, ENGINE);
  // What is made once is no attack's.
  await run(target, { name: 'first', more: () => [Buffer.alloc(9), 1], reasons: [] }, 500);
  slowness = Math.min(MOST_SLOW, Math.max(1, (await honest(target, 500)) / HONEST_MS));
});

/** What the attack costs. A busy machine makes the same work dearer, never cheaper: beyond the bound the least processor time of three counts. */
async function least(attack: Attack): Promise<Cost> {
  const first = await run(target, attack);
  let { cpuMs } = first;
  for (let more = 0; more < 2 && cpuMs >= boundOf(attack); more++) {
    cpuMs = Math.min(cpuMs, (await run(target, attack)).cpuMs);
  }
  return { ...first, cpuMs };
}

const boundOf = ({ cpuMs = CPU_MS }: Attack): number => slowness * SCALE * cpuMs;

/** In what the server did not hold the attack. */
function faultsOf(cost: Cost, attack: Attack): string[] {
  const faults = [
    [cost.isEnded, 'the connection goes on'],
    [cost.cpuMs < boundOf(attack), `${cost.cpuMs} ms`],
    [cost.growth < GROWTH, `${cost.growth >> 20} MB`],
    // nghttp2 ends connections with codes of its own, and not all of them are counted. A visitor that reads nothing gets no code.
    [ENGINE === 'node' || cost.goaway === ERROR.calm || attack.isDeaf === true, `GOAWAY with ${cost.goaway}`],
    [ENGINE === 'node' || isCounted(cost, attack.reasons), `counted as ${JSON.stringify(cost.dropped)}`],
  ] as const;
  return faults.flatMap(([isHeld, fault]) => (isHeld ? [] : [fault]));
}

function isCounted({ dropped }: Cost, reasons: readonly string[]): boolean {
  return reasons.some((reason) => (dropped[reason] ?? 0) > 0);
}

for (const attack of ATTACKS) {
  test(`attack: ${attack.name} ends the connection`, WITHIN, async (t) => {
    const known = unended[attack.name];
    const cost = known === undefined ? await least(attack) : await run(target, attack, KNOWN_MS);
    t.diagnostic(JSON.stringify(cost));
    const faults = faultsOf(cost, attack);
    if (known === undefined) assert.deepEqual(faults, []);
    else assert.notDeepEqual(faults, [], `mended, no longer: ${known}`);
  });
}

const LARGE = literals(request('GET', '/large'));
const HELLO = [PREFACE, settingsFrame()];
const CLOSED_WINDOW = [PREFACE, settingsFrame([SETTING.window, 0])];
const hundred = (make: (stream: number) => Buffer): Buffer[] => Array.from({ length: 100 }, (_, i) => make(2 * i + 1));

/** Connections that send little and wait: the deadlines of server.ts end them. */
const WAITING = [
  {
    name: 'zero window: 100 answers of 64 KB that can not be sent',
    frames: [...CLOSED_WINDOW, ...hundred((stream) => headers(stream, LARGE))],
    reasons: ['slow_reader', 'h2_memory'],
    isDeaf: false,
  },
  {
    name: 'slow reader: 100 answers of 64 KB that are not read',
    frames: [PREFACE, settingsFrame([SETTING.window, 2 ** 31 - 1]), ...hundred((stream) => headers(stream, LARGE))],
    reasons: ['slow_reader', 'h2_memory'],
    isDeaf: true,
  },
  {
    name: '100 uploads that never end',
    frames: [...HELLO, ...hundred((stream) => headers(stream, request('POST', '/never'), OPEN))],
    reasons: ['body_timeout'],
    isDeaf: false,
  },
  {
    name: 'a head that never ends',
    frames: [...HELLO, headers(1, request(), FLAG.endStream)],
    reasons: ['idle', 'head_timeout'],
    isDeaf: false,
  },
  {
    name: 'a preface that never ends',
    frames: [PREFACE.subarray(0, 10)],
    reasons: ['idle', 'head_timeout'],
    isDeaf: false,
  },
];

for (const { name, frames, reasons, isDeaf } of WAITING) {
  test(`attack: ${name} is ended by a deadline and holds little`, WITHIN, async (t) => {
    const cost = await wait(target, Buffer.concat(frames), reasons, isDeaf);
    t.diagnostic(JSON.stringify(cost));
    assert.ok(isCounted(cost, reasons), `counted as ${JSON.stringify(cost.dropped)}`);
    assert.ok(cost.growth < GROWTH, `${cost.growth >> 20} MB`);
    assert.ok(cost.cpuMs < slowness * 4 * CPU_MS, `${cost.cpuMs} ms`);
  });
}
