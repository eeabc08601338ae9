/** A solver of a test: answers all three challenges by itself, as the edge and a DNS provider would, and remembers its calls. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createSecureContext, createServer as createTlsServer, type SecureContext } from 'node:tls';
import type { ChallengeAnswer, ChallengeSolver } from '../../src/control/providers/acme/contract.ts';
import { ACME_TLS_PROTOCOL, alpnCertificate } from '../../src/control/providers/acme/alpn-certificate.ts';
import type { DnsServer } from './dns.ts';
import type { Ends } from './ends.ts';

export interface Answering extends ChallengeSolver {
  readonly httpPort: number;
  readonly tlsPort: number;
  /** `publish <type> <name>` and `withdraw …`, in order. */
  readonly actions: string[];
  /** What stands published now. */
  readonly published: ReadonlySet<ChallengeAnswer>;
  /** Set: changes an answer before it is published. */
  spoil: ((answer: ChallengeAnswer) => ChallengeAnswer) | undefined;
}

/** Ends with the test. */
export async function startAnswering(t: Ends, dns: DnsServer): Promise<Answering> {
  const bodies = new Map<string, string>();
  const contexts = new Map<string, SecureContext>();
  const published = new Set<ChallengeAnswer>();
  const http = createServer((request, response) => {
    const body = bodies.get(`${request.headers.host?.split(':')[0]}${request.url}`);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  const tls = createTlsServer({
    ALPNProtocols: [ACME_TLS_PROTOCOL],
    SNICallback: (name, done) => done(null, contexts.get(name)),
  });
  const set = async (answer: ChallengeAnswer): Promise<void> => {
    const { type, name, token, keyAuthorization, txtValue } = answer;
    if (type === 'http-01') bodies.set(`${name}/.well-known/acme-challenge/${token}`, keyAuthorization);
    else if (type === 'tls-alpn-01') contexts.set(name, createSecureContext(await alpnCertificate(answer)));
    else dns.txt.set(`_acme-challenge.${name}`, [...(dns.txt.get(`_acme-challenge.${name}`) ?? []), [txtValue]]);
  };
  const self: Answering = {
    httpPort: await listen(t, http),
    tlsPort: await listen(t, tls),
    actions: [],
    published,
    spoil: undefined,
    publish: async (answer) => {
      self.actions.push(`publish ${answer.type} ${answer.name}`);
      await set(self.spoil?.(answer) ?? answer);
      published.add(answer);
    },
    withdraw: async (answer) => {
      self.actions.push(`withdraw ${answer.type} ${answer.name}`);
      bodies.delete(`${answer.name}/.well-known/acme-challenge/${answer.token}`);
      contexts.delete(answer.name);
      dns.txt.delete(`_acme-challenge.${answer.name}`);
      published.delete(answer);
    },
  };
  return self;
}

async function listen(t: Ends, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}
