/**
 * `npm run fuzz -- [mux|http] [--seconds 30] [--seed N]`: both fuzzers, or one. The multiplexer's is test/fuzz/mux.fuzz.ts.
 *
 * Here: request smuggling, looked for by comparison. Requests with every kind of doubtful framing go
 * as raw bytes to a bare Node server (llhttp) and, the same bytes, through a tunnel to another. What the local service sees through the
 * tunnel must be what Node itself reads from those bytes, or the beginning of it: the edge may refuse more, never read differently.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { fuzzMux } from '../test/fuzz/mux.fuzz.ts';
import { startTrial } from './quickstart/trial.ts';
import { Dice } from './soak/dice.ts';

/** One request as a server read it. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly host: string;
  readonly body: string;
}

const MARK = 'x-fuzz-case';
const ANSWER_DEADLINE_MS = 5_000;

/** A server that keeps what it reads, by the case that a request belongs to. */
class Recorder {
  readonly server: Server;
  readonly seen: Seen[] = [];

  constructor() {
    this.server = createServer((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (piece: Buffer) => hash.update(piece));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        this.seen.push({ method, url, host: headers.host ?? '', body: hash.digest('hex').slice(0, 16) });
        response.end('ok');
      });
    });
  }

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  take(): Seen[] {
    return this.seen.splice(0);
  }
}

const BODY = 'GET /smuggled HTTP/1.1\r\nHost: internal\r\n\r\n';
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/**
 * Framings that servers have disagreed about, right ones among them. Each is header lines and the body behind them. Not here: a tab behind
 * `chunked`, which is white space by RFC 9110 §5.5 to the edge (that forwards a line of its own) and a fault to llhttp.
 */
function framing(dice: Dice): [lines: string[], body: string] {
  const size = BODY.length;
  const number = dice.pick([
    `${size}`,
    `+${size}`,
    `0${size}`,
    `${size} `,
    `0x${size.toString(16)}`,
    `${size},${size}`,
    '0',
    '',
    '-1',
    '1e1',
  ]);
  const coding = dice.pick([
    'chunked',
    'Chunked',
    'chunked ',
    ' chunked',
    'chunked, chunked',
    'identity',
    'gzip, chunked',
    'x',
    '\x0bchunked',
  ]);
  const length = `${dice.pick(['Content-Length', 'content-length', 'Content-Length ', 'Content_Length', ' Content-Length'])}:${dice.pick([' ', '', '\t'])}${number}`;
  const transfer = `${dice.pick(['Transfer-Encoding', 'transfer-encoding', 'Transfer-Encoding ', 'Transfer_Encoding'])}:${dice.pick([' ', '', '\t', '\r\n '])}${coding}`;
  const sizeLine = dice.pick([
    size.toString(16),
    `0${size.toString(16)}`,
    `${size.toString(16)};a=b`,
    `0x${size.toString(16)}`,
    ` ${size.toString(16)}`,
    `${size.toString(16)} `,
    `${size.toString(16)};a="\r\n"`,
    '-1',
    'fffffffffffffffff',
  ]);
  const lines = dice.pick([
    [],
    [length],
    [transfer],
    [length, transfer],
    [transfer, length],
    [length, length],
    [transfer, transfer],
  ]);
  const body = dice.pick([
    '',
    BODY,
    chunked(BODY),
    `${sizeLine}\r\n${BODY}\r\n0\r\n\r\n`,
    `0\r\n\r\n${BODY}`,
    `${size.toString(16)}\n${BODY}\r\n0\r\n\r\n`,
    `${size.toString(16)}\r\n${BODY}\n0\r\n\r\n`,
    `0\r\nX: y\r\n\r\n`,
  ]);
  return [lines, body];
}

/** One to three requests, one behind the other, with a fault somewhere more often than not. */
function makeCase(dice: Dice, host: string): string {
  const requests = Array.from({ length: 1 + dice.below(3) }, (_, index) => {
    const [lines, body] = framing(dice);
    const method = dice.pick(['GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'get', 'G T', 'CONNECT']);
    const target = dice.pick([
      `/case-${index}`,
      `/case-${index}`,
      `http://${host}/case-${index}`,
      `//case-${index}`,
      `/case ${index}`,
      '*',
      `/case-${index}\x7f`,
    ]);
    const version = dice.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ']);
    const extra = dice.pick([
      [],
      [],
      ['Connection: close'],
      ['Connection: content-length'],
      ['X: a\r\n b'],
      ['X : a'],
      ['X: a\rb'],
      ['X: a\0b'],
      [`Host: other`],
      ['Expect: 100-continue'],
      ['Upgrade: h2c', 'Connection: Upgrade'],
    ]);
    const end = dice.below(12) === 0 ? '\n' : '\r\n';
    const head = [`${method} ${target} ${version}`, `Host: ${host}`, `${MARK}: 1`, ...lines, ...extra].join(end);
    return `${head}${end}${end}${body}`;
  });
  return requests.join(dice.pick(['', '', '', '\r\n', '\n']));
}

/** Sends the bytes, cut at random places, and waits until the peer has closed. */
async function send(port: number, bytes: Buffer, dice: Dice): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  socket.on('error', () => socket.destroy()); // a refusal may come as a reset: it is what was seen that counts
  socket.resume();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  socket.setTimeout(ANSWER_DEADLINE_MS, () => socket.destroy());
  const cut = dice.below(bytes.length);
  socket.write(bytes.subarray(0, cut));
  socket.end(bytes.subarray(cut));
  socket.on('end', () => socket.destroy());
  await closed;
}

function isBeginning(part: readonly Seen[], whole: readonly Seen[]): boolean {
  return (
    part.length <= whole.length && part.every((one, index) => JSON.stringify(one) === JSON.stringify(whole[index]))
  );
}

/** An absolute target is forwarded in origin form (RFC 9112 §3.2.2): compare both as a path. */
function asPath(seen: Seen, host: string): Seen {
  const prefix = `http://${host}`;
  return seen.url.startsWith(prefix) ? { ...seen, url: seen.url.slice(prefix.length) } : seen;
}

async function fuzz(seconds: number, seed: number): Promise<void> {
  const [direct, local] = [new Recorder(), new Recorder()];
  const directPort = await direct.listen();
  const trial = await startTrial(await local.listen());
  const dice = new Dice(seed);
  const until = performance.now() + seconds * 1000;
  let cases = 0;
  let forwarded = 0;
  let refused = 0;
  console.log(`fuzzing for ${seconds} s, seed ${seed}`);
  while (performance.now() < until) {
    const bytes = Buffer.from(makeCase(dice, trial.host), 'latin1');
    await Promise.all([send(directPort, bytes, dice), send(trial.port, bytes, dice)]);
    // A request for another host, smuggled or not, is none of this tunnel's: the edge answers it by itself.
    const expected = direct
      .take()
      .filter(({ host }) => host === trial.host)
      .map((seen) => asPath(seen, trial.host));
    const actual = local.take().map((seen) => asPath(seen, trial.host));
    cases++;
    forwarded += actual.length;
    if (actual.length < expected.length) refused++;
    if (!isBeginning(actual, expected)) {
      const facts = { case: bytes.toString('latin1'), node: expected, tunnel: actual };
      throw new Error(`case ${cases} of seed ${seed} was read differently:\n${JSON.stringify(facts, null, 2)}`);
    }
  }
  for (const { server } of [direct, local]) server.close().closeAllConnections();
  await trial.close();
  console.log(
    `${cases} cases: ${forwarded} requests forwarded, in ${refused} cases fewer than Node takes, none differently`,
  );
  if (forwarded === 0 || refused === 0) throw new Error('the cases tested nothing: some must pass and some be refused');
}

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const [what] = positionals;
const seconds = Number(values.seconds);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (what === undefined || what === 'mux') await fuzzMux(what === undefined ? seconds / 3 : seconds, seed);
if (what === undefined || what === 'http') await fuzz(what === undefined ? (seconds * 2) / 3 : seconds, seed);
