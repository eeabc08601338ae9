/** A DNS server on a loopback port, for tests of custom domains and certificates: real packets, and records that a test may change. */
import dns2 from 'dns2';
import type { Ends } from './ends.ts';

const { Packet } = dns2;
type Packet = InstanceType<typeof Packet>;

export interface DnsServer {
  /** `IP:port`, as `dns.resolvers` takes it. */
  readonly address: string;
  /** Name to its TXT records, each in the strings that it is cut into. A name that is missing does not exist. */
  readonly txt: Map<string, string[][]>;
  /** Set: the IPv4 address of every name, as a wildcard record of the root would give it; or that of each name, none for one that doesn't exist. */
  address4: string | ((name: string) => string | undefined) | undefined;
  /** Names that were asked for, in order. */
  readonly asked: string[];
  /** Set: this is said instead of an answer. */
  rcode: number | undefined;
  /** Set: each answer waits for this. */
  hold: (() => Promise<void>) | undefined;
}

export const SERVFAIL = Packet.RCODE.SERVFAIL;

/** Ends with the test. On a loopback port unless told otherwise. */
export async function startDns(t: Ends, { host = '127.0.0.1', port = 0 } = {}): Promise<DnsServer> {
  const txt = new Map<string, string[][]>();
  const asked: string[] = [];
  const answerTo = (request: Packet): Packet => {
    const [question] = request.questions;
    const name = question?.name.toLowerCase() ?? '';
    asked.push(name);
    const answer = Packet.createResponseFromRequest(request);
    const records = txt.get(name);
    const address = typeof state.address4 === 'function' ? state.address4(name) : state.address4;
    if (state.rcode !== undefined) answer.header.rcode = state.rcode;
    else if (address !== undefined && question?.type === Packet.TYPE.A) {
      answer.answers.push(new Packet.Resource({ name, type: Packet.TYPE.A, class: Packet.CLASS.IN, ttl: 0, address }));
    } else if (records === undefined && address === undefined) answer.header.rcode = Packet.RCODE.NXDOMAIN;
    else if (question?.type === Packet.TYPE.TXT) {
      for (const data of records ?? [])
        answer.answers.push(new Packet.Resource({ name, type: Packet.TYPE.TXT, class: Packet.CLASS.IN, ttl: 0, data }));
    }
    return answer;
  };
  const server = dns2.createUDPServer((request, send) => {
    const answer = answerTo(request);
    if (state.hold === undefined) void send(answer);
    else void state.hold().then(() => send(answer));
  });
  await server.listen(port, host);
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const state: DnsServer = {
    address: `${host}:${server.address().port}`,
    txt,
    asked,
    address4: undefined,
    rcode: undefined,
    hold: undefined,
  };
  return state;
}
