/**
 * What must hold when a recorded request is sent again, whatever its stored head and the caller's changes hold, checked on an edge without
 * sockets (dry-edge.ts) against a second reader (reference.ts): the service gets exactly one request, the one that was meant, with its mark, or
 * nothing at all.
 */
import { AppError } from '../../src/base/errors.ts';
import { hostAmong, type ReplayEdits, replayOf } from '../../src/control/inspector/replay/request.ts';
import { type Outcome, TunnelExchange } from '../../src/data/edge/server-requests/tunnel-request.ts';
import { idOf } from '../../src/data/fixtures/link.ts';
import { CLAIMS_OF_VISITORS } from '../../src/http1/fields.ts';
import type { InspectedRequest, TunnelRequest } from '../../src/plane/inspection.ts';
import type { DryEdge } from './dry-edge.ts';
import { type Message, readRequest } from './reference.ts';

export interface ReplayCase {
  /** The head as it was stored, latin1, and the body. */
  readonly head: string;
  readonly body: string;
  readonly edits: ReplayEdits;
}

export interface ReplayOutcome {
  /** What does not hold; null: all does. */
  readonly fault: string | null;
  /** `kept`: not sent at all; `refused`: by the edge; `served`. */
  readonly ended: 'kept' | 'refused' | 'served';
}

const RECORD = '01890a5d-ac96-774b-bcce-b302099a8057';
const NAME = 'shop.example.test';
/** What the service hears of the edge alone, and what frames the message. */
const OF_EDGE = /^(?:host|content-length|x-forwarded-(?:for|proto|host)|x-real-ip|culvert-replay)$/;
/** Never passed on; with `_` for `-` too. */
const KEPT_BACK =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|upgrade|transfer-encoding|http2-settings|x-original-(?:url|host)|x-rewrite-url|culvert-visitor-email|x-forwarded-.+)$/;
const CLAIMS = new Set<string>(CLAIMS_OF_VISITORS);
/** Marks of webhooks come behind those of the edge, if they are short and plain; with `_` they are dropped. */
const MARK = /^culvert-webhook-(?:receiver|delivery|attempt)$/;
const KNOWN_WITH_DASH = /^(?:expect|accept|cookie)$/;

/** Runs one case. */
export function judgeReplay(edge: DryEdge, of: ReplayCase): ReplayOutcome {
  edge.begin();
  const request = requestOf(of);
  if (request === null) return { fault: null, ended: 'kept' };
  const outcomes: Outcome[] = [];
  const exchange = new TunnelExchange(edge.context, request);
  exchange.begin((outcome) => void outcomes.push(outcome));
  const sent = edge.streams.map(({ text }) => text).join('');
  if (outcomes.length === 0) for (const stream of edge.streams) stream.say('HTTP/1.1 204 No Content\r\n\r\n');
  exchange.destroy();
  const [outcome] = outcomes;
  if (outcomes.length !== 1 || outcome === undefined) return bad(`${outcomes.length} ends`);
  if (edge.inFlight !== 0) return bad('it is still under way');
  if (!outcome.wasForwarded) {
    if (sent !== '') return bad(`refused with ${outcome.code}, and sent: ${JSON.stringify(sent)}`);
    return { fault: null, ended: 'refused' };
  }
  if (outcome.status !== 204) return bad(`it ended with ${outcome.status} ${outcome.code}`);
  const fault = faultOf(sent, request);
  return fault === null ? { fault, ended: 'served' } : bad(`${fault}: ${JSON.stringify(sent)}`);
}

function requestOf({ head, body, edits }: ReplayCase): TunnelRequest | null {
  const requestHead = Buffer.from(head, 'latin1');
  const record = { requestHead, requestBody: Buffer.from(body, 'latin1'), requestBodyTruncated: false, status: 200 };
  try {
    return {
      ...replayOf({ ...record, trace: { outcome: 'forwarded' } } as unknown as InspectedRequest, edits),
      tunnelId: idOf('shop'),
      host: hostAmong([NAME], requestHead) ?? NAME,
      clientIp: '203.0.113.9',
      scheme: 'http',
      replayOf: RECORD,
      timeoutMs: 1_000,
    };
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** What the service reads is not what was meant. */
function faultOf(text: string, meant: TunnelRequest): string | null {
  const came = readRequest(text, 0);
  if (came === 'more') return 'half a request';
  if ('bad' in came) return `no request: ${came.bad}`;
  if (came.next !== text.length) return 'more than one request';
  if (came.first !== meant.method || came.second !== meant.target || came.minor !== 1) return 'another first line';
  if (came.body !== Buffer.from(meant.body).toString('latin1')) return 'another body';
  const own = came.fields.filter(([name]) => OF_EDGE.test(name));
  const expected = [
    ['host', meant.host],
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-proto', 'http'],
    ['x-forwarded-host', meant.host],
    ['x-real-ip', '203.0.113.9'],
    ['culvert-replay', RECORD],
  ];
  const framing = own.filter(([name]) => name === 'content-length');
  if (framing.length > 1) return 'two lengths';
  if (JSON.stringify(own.filter((field) => !framing.includes(field))) !== JSON.stringify(expected))
    return 'another host or mark';
  return othersOf(came, meant);
}

function othersOf(came: Message, meant: TunnelRequest): string | null {
  const others = came.fields.filter(([name]) => !OF_EDGE.test(name));
  const all = meant.fields.map(([name, value]) => [name.toLowerCase(), value] as const);
  const marks = all.filter(([name, value]) => MARK.test(name) && /^[\x20-\x7e]{0,200}$/.test(value));
  const expected = [...all.filter(([name]) => !MARK.test(name)), ...marks]
    .map(([name, value]) => [name, value.replace(/^[\t ]+|[\t ]+$/g, '')] as const)
    .filter(([name]) => {
      const folded = name.replaceAll('_', '-');
      if (
        KEPT_BACK.test(folded) ||
        CLAIMS.has(folded) ||
        OF_EDGE.test(folded) ||
        (MARK.test(folded) && name !== folded)
      )
        return false;
      return name === folded || !KNOWN_WITH_DASH.test(folded);
    });
  return JSON.stringify(others) === JSON.stringify(expected) ? null : `other fields than ${JSON.stringify(expected)}`;
}

function bad(fault: string): ReplayOutcome {
  return { fault, ended: 'refused' };
}
