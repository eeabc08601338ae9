/**
 * What must hold for any bytes that a service (or a hostile agent) sends as a response: the visitor who asked gets exactly one response by the
 * grammar, or a 502, or a clear cut; its next request and those of other visitors get their own. Checked on an edge without sockets.
 */
import type { DryEdge, DryVisitor } from './dry-edge.ts';
import { type Message, type Reading, readRequest, readResponse, readServiceResponse, valuesOf } from './reference.ts';

export const ASKS = ['get', 'head', 'post', 'part', 'old', 'upgrade'] as const;
export type Ask = (typeof ASKS)[number];

export interface ResponseCase {
  readonly ask: Ask;
  /** What the service writes, latin1. */
  readonly text: string;
  /** In pieces of so many bytes; 0: at once. */
  readonly step: number;
  /** What it does then. */
  readonly leaves: 'stays' | 'end' | 'reset';
}

export type ResponseOutcome = 'answered' | 'refused' | 'cut' | 'waits' | 'switched';

const HOST = 'Host: shop.example.test';
const REQUESTS: Readonly<Record<Ask, string>> = {
  get: `GET /first HTTP/1.1\r\n${HOST}\r\n\r\n`,
  head: `HEAD /first HTTP/1.1\r\n${HOST}\r\n\r\n`,
  post: `POST /first HTTP/1.1\r\n${HOST}\r\nContent-Length: 4\r\n\r\nwhat`,
  part: `POST /first HTTP/1.1\r\n${HOST}\r\nContent-Length: 4\r\n\r\nw`,
  old: `GET /first HTTP/1.0\r\n${HOST}\r\nConnection: keep-alive\r\n\r\n`,
  upgrade: `GET /first HTTP/1.1\r\n${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
};
const OWN = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown';
const MAX_INTERIM = 16;
const HOP = /^(?:keep-alive|proxy-connection|proxy-authorization|te|upgrade)$/;

/** Runs one case. What does not hold is thrown as the text of an error. */
export function judgeResponse(edge: DryEdge, of: ResponseCase): ResponseOutcome {
  edge.begin();
  const [asker, neighbour] = [edge.visit(), edge.visit()];
  try {
    asker.send(REQUESTS[of.ask]);
    say(edge, of);
    const said = asker.text;
    const [over, cut] = [asker.over, asker.cut];
    neighbour.send(`GET /own HTTP/1.1\r\n${HOST}\r\n\r\n`);
    answerAll(edge);
    if (neighbour.text !== OWN) fail(`a neighbour gets ${JSON.stringify(neighbour.text)}`);
    const outcome = judge(of, said, { over, cut });
    if (outcome === 'answered' || outcome === 'refused') goesOn(edge, asker, said);
    keptInStep(edge, of);
    return outcome;
  } finally {
    asker.leave();
    neighbour.leave();
    if (edge.inFlight !== 0) fail(`${edge.inFlight} requests are still under way`);
  }
}

function fail(why: string): never {
  throw new Error(why);
}

function say(edge: DryEdge, of: ResponseCase): void {
  const [stream] = edge.streams;
  if (stream === undefined) return fail('the request did not arrive');
  stream.read = stream.text.length;
  const step = of.step === 0 ? Math.max(1, of.text.length) : of.step;
  for (let at = 0; at < of.text.length; at += step) stream.say(of.text.slice(at, at + step));
  if (of.leaves !== 'stays') stream.leave(of.leaves);
}

/** The service answers whatever has come since, in good order. */
function answerAll(edge: DryEdge): void {
  for (const stream of edge.streams) {
    if (stream.gone || stream.read === stream.text.length) continue;
    const reading = readRequest(stream.text, stream.read);
    if (reading === 'more' || 'bad' in reading) continue;
    stream.read = reading.next;
    stream.say(OWN);
  }
}

/** The asker's next request gets its own answer, or the connection was over. */
function goesOn(edge: DryEdge, asker: DryVisitor, said: string): void {
  const over = asker.over;
  asker.send(`GET /next HTTP/1.1\r\n${HOST}\r\n\r\n`);
  answerAll(edge);
  const next = asker.text.slice(said.length);
  if (next !== (over ? '' : OWN)) fail(`the next request gets ${JSON.stringify(next)}`);
}

/** Only a connection that is in step for sure carries another request: none whose response had to be mended. */
function keptInStep(edge: DryEdge, of: ResponseCase): void {
  const stream = edge.streams[0];
  if (stream === undefined || stream.text.split('\r\n\r\n').length <= 2) return;
  const { reading } = finalOf(of.text, of.ask === 'head' ? 'HEAD' : 'GET');
  if (reading === 'more' || 'bad' in reading) return fail('a connection that is out of step is kept');
  const { next, untilClose } = reading;
  if (next !== of.text.length || untilClose) fail('a connection that brought more than a response is kept');
  if (of.ask === 'part' || of.ask === 'upgrade') fail(`a connection is kept behind a request that was ${of.ask}`);
  const names = valuesOf(reading, 'connection').flatMap((value) => value.toLowerCase().split(/[\t ,]+/));
  if (names.includes('close')) fail('a closed connection is kept');
}

function judge(of: ResponseCase, said: string, end: { over: boolean; cut: boolean }): ResponseOutcome {
  const method = of.ask === 'head' ? 'HEAD' : 'GET';
  const meant = finalOf(of.text, method, readServiceResponse);
  const came = finalOf(said, method);
  if (
    came.interim.some((one) => valuesOf(one, 'content-length').length + valuesOf(one, 'transfer-encoding').length > 0)
  )
    fail('an interim response with a length');
  if (came.interim.length > (of.ask === 'old' ? 0 : MAX_INTERIM)) fail('interim responses');
  const { reading } = came;
  if (reading === 'more') {
    if (end.over && !end.cut) fail('half a response and an end in good order');
    if (came.from < said.length && faultOf(meant.reading) !== null && faultOf(meant.reading) !== 'body')
      fail(`a head was passed on that is none: ${faultOf(meant.reading)}`);
    return end.over ? 'cut' : 'waits';
  }
  if ('bad' in reading) {
    // The last bytes before a cut may be half of something.
    return end.cut ? 'cut' : fail(`no response: ${reading.bad} in ${JSON.stringify(said)}`);
  }
  if (reading.first === '101') return of.ask === 'upgrade' ? 'switched' : fail('101 that was not asked for');
  if (reading.next !== said.length) fail(`more than one response: ${JSON.stringify(said)}`);
  headOf(reading, of.ask);
  if (valuesOf(reading, 'culvert-error').length > 0) {
    if (!/^50[24]$/.test(reading.first) || (method === 'GET' && !reading.body.startsWith('{"error":"local_')))
      fail('the edge’s own words are not its own');
    return 'refused';
  }
  return sameAs(meant.reading, reading, of, end);
}

function headOf(came: Message, ask: Ask): void {
  for (const [name, value] of came.fields) {
    if (HOP.test(name)) fail(`${name} is for one hop alone`);
    if (name === 'connection' && value !== 'close' && !(ask === 'old' && value === 'keep-alive'))
      fail(`connection: ${value}`);
    if (name === 'set-cookie' && /;[\t ]*domain[\t ]*=[\t ]*\.?example\.test[\t ]*(?:;|$)/i.test(value))
      fail('a cookie for neighbours');
  }
  if (ask === 'old' && valuesOf(came, 'transfer-encoding').length > 0 && came.first !== '304')
    fail('chunks for HTTP/1.0');
  if (came.first === '204' && valuesOf(came, 'content-length').length > 0) fail('204 with a length');
}

function sameAs(
  meant: Reading,
  came: Message,
  of: ResponseCase,
  end: { over: boolean; cut: boolean },
): ResponseOutcome {
  if (came.untilClose && !end.over) return 'waits';
  if (end.cut && (came.untilClose || typeof meant === 'string' || 'bad' in meant)) return 'cut';
  if (meant === 'more') return fail('a response was completed that is not complete');
  if ('bad' in meant) return fail(`a response was made of what is none: ${meant.bad}`);
  if (meant.untilClose && of.leaves !== 'end') fail('a response that was cut ends in good order');
  if (came.first !== meant.first || came.body !== meant.body)
    fail(`not what was said: ${came.first} ${JSON.stringify(came.body)}`);
  return 'answered';
}

interface Final {
  readonly interim: readonly Message[];
  readonly reading: Reading;
  /** Where it begins. */
  readonly from: number;
}

function finalOf(text: string, method: string, read = readResponse): Final {
  const interim: Message[] = [];
  for (let from = 0; ; ) {
    const reading = read(text, from, method);
    if (reading === 'more' || 'bad' in reading || !/^1(?!01)/.test(reading.first)) return { interim, reading, from };
    interim.push(reading);
    from = reading.next;
  }
}

function faultOf(reading: Reading): string | null {
  if (typeof reading === 'string' || !('bad' in reading)) return null;
  return /^(?:chunk|trailer)/.test(reading.bad) ? 'body' : reading.bad;
}
