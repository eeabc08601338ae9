/**
 * Storms of tokens at a tunnel with a JWT policy, whose owner chooses the keys: the most expensive key that is accepted, and an absurd one. Signatures
 * are random bytes, which cost as much to refuse as good ones to accept. All differ, because verified tokens may be cached.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringIn, tunnelId } from '../api.ts';
import { startAgent } from '../culvert.ts';
import type { Storm } from './storm.ts';
import { visit, WARM_SECONDS } from './visitors.ts';
import type { Fixture } from './fixture.ts';

const AGENT = 'agent-gated';
const SUBDOMAIN = 'gated';
/** The longest modulus and exponent that are accepted. */
const LONGEST = { modulusBits: 4_096, exponentBits: 32 };
/** With a longer modulus OpenSSL itself refuses such an exponent. */
const ABSURD = { modulusBits: 3_072, exponentBits: 1_536 };
const TOKENS = 1_000;
/** 1,000 tokens a second, at about 0.2 ms each a fifth of a processor. A flood would measure the requests and not the keys. */
const CONNECTIONS = 100;
const INTERVAL_MS = 100;

interface KeySize {
  readonly modulusBits: number;
  readonly exponentBits: number;
}

export function tokenStorms(fixture: Fixture): Storm[] {
  const rate = `${CONNECTIONS * (1_000 / INTERVAL_MS)} tokens a second`;
  const words = ({ modulusBits, exponentBits }: KeySize): string => `${modulusBits} bits, exponent of ${exponentBits}`;
  return [
    {
      ...storm(fixture, LONGEST),
      name: 'jwt-keys',
      title: `${rate} for the longest RSA key that is accepted: ${words(LONGEST)}`,
    },
    // It is left out: one round shows it.
    {
      ...storm(fixture, ABSURD),
      rounds: 1,
      name: 'jwt-absurd',
      title: `${rate} for an absurd RSA key: ${words(ABSURD)}`,
    },
  ];
}

function storm(fixture: Fixture, size: KeySize): Pick<Storm, 'prepare' | 'run' | 'finish'> {
  const { bench, server } = fixture;
  const { processes } = bench;
  const fieldsFile = join(processes.folder, 'tokens');
  let issuer: Server | undefined;
  const showTokens = async (seconds: number): Promise<string> => {
    const crowd = { port: server.httpPort, host: `${SUBDOMAIN}.localhost`, fieldsFile };
    const pace = { connections: CONNECTIONS, intervalMs: INTERVAL_MS, seconds: seconds - WARM_SECONDS };
    const { statuses } = await visit(bench, { ...crowd, ...pace }, { elsewhere: false });
    return statuses;
  };
  return {
    prepare: async () => {
      issuer = await serveKeys({ keys: [makeKey(size)] });
      const { port } = issuer.address() as AddressInfo;
      const owner = await fixture.logIn();
      const input = { name: 'gated', tunnelQuota: 10, bandwidthLimitMbps: 10_000 };
      const token = stringIn(await owner.call('POST', '/tokens', input), 'apiKey');
      await startAgent(processes, server, { originPort: fixture.originPort, name: AGENT, subdomain: SUBDOMAIN, token });
      const action = { kind: 'jwt_validation', jwks_url: `http://127.0.0.1:${port}/` };
      await owner.call('PUT', `/tunnels/${await tunnelId(owner, SUBDOMAIN)}/policy`, { actions: [action] });
      writeFileSync(fieldsFile, `${makeTokens(size).join('\n')}\n`);
      // Keys are fetched and code is compiled: not measured.
      await showTokens(2);
    },
    run: showTokens,
    finish: async () => {
      await processes.stop(AGENT);
      issuer?.close();
    },
  };
}

async function serveKeys(set: object): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(set));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function makeKey({ modulusBits, exponentBits }: KeySize): object {
  const { n } = generateKeyPairSync('rsa', { modulusLength: modulusBits }).publicKey.export({ format: 'jwk' });
  const exponent = randomBytes(exponentBits / 8);
  exponent.writeUInt8(0xff, 0);
  exponent.writeUInt8(0xff, exponent.length - 1);
  return { kty: 'RSA', kid: 'bench', n, e: exponent.toString('base64url') };
}

/** Header lines. */
function makeTokens({ modulusBits }: KeySize): string[] {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ alg: 'PS512', kid: 'bench', typ: 'JWT' });
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return Array.from({ length: TOKENS }, (_, i) => {
    const signature = randomBytes(modulusBits / 8);
    // Below the modulus, or it is refused before anything is computed.
    signature[0] = 0;
    return `Authorization: Bearer ${head}.${part({ sub: `visitor-${i}`, exp })}.${signature.toString('base64url')}`;
  });
}
