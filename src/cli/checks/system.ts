/** What checks ask of the machine and the network, as one argument: tests give another one. */
import type { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { CaaRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { checkServerIdentity, connect, type PeerCertificate } from 'node:tls';
import { codeOf } from '../../base/errors.ts';
import { listenAt } from '../../base/net/listen.ts';
import { type DiskSpace, diskSpace } from '../../base/process/disk-space.ts';
import { portHolder } from './port-holder.ts';

/** What a TLS listener shows to a client that names a host. */
export interface Shown {
  /** The certificate names the host. */
  readonly isForHost: boolean;
  /** Issued by itself: what the server shows until it has another. */
  readonly isSelfSigned: boolean;
  /** This machine trusts its issuer, and it is valid now. */
  readonly isTrusted: boolean;
  /** Why not, as OpenSSL says. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface Visited {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface System {
  /** A or AAAA records; empty when there are none. Rejects when the DNS does not respond. */
  addresses(name: string, family: 4 | 6): Promise<readonly string[]>;
  /** CAA records of exactly this name; empty when there are none. Rejects when the DNS does not respond. */
  caa(name: string): Promise<readonly CaaRecord[]>;
  /** Of the network interfaces, without loopback and link-local ones. */
  ownAddresses(): readonly string[];
  /** Binds as the server does, and releases; undefined, or the code of the error. */
  tryListen(at: Place): Promise<string | undefined>;
  /** The program that listens on the port, as far as this user may know. */
  holderOf(port: number): string | undefined;
  /** Opens a TCP connection and closes it; undefined, or the reason why there was none. */
  tryConnect(at: Place): Promise<string | undefined>;
  /** A handshake that names `host`. Rejects when there is none. */
  handshake(at: Place, host: string): Promise<Shown>;
  /** A GET at this address, whatever the DNS says. Certificates are not verified: `handshake` tells of them. */
  visit(url: URL, at?: Place): Promise<Visited>;
  /** The clock of an HTTPS server, milliseconds since the epoch. `caFile`: of a private authority. */
  remoteTime(url: URL, caFile: string | null): Promise<number>;
  now(): number;
  /** Of the folder, or of the nearest one above it that exists. */
  space(folder: string): Promise<DiskSpace>;
  /** How many files a process may open at most; null: the system does not say. */
  descriptorLimit(): number | null;
}

const TIMEOUT_MS = 5_000;
const DNS_TIMEOUT_MS = 2_000;
const NO_RECORD: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA']);

/** This machine. `resolvers`: DNS servers in place of the system's (`dns.resolvers`). */
export function realSystem(resolvers: readonly string[] = []): System {
  const resolver = (): Resolver => {
    const made = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
    if (resolvers.length > 0) made.setServers(resolvers);
    return made;
  };
  const lookUp = async <T>(asked: Promise<T[]>): Promise<readonly T[]> => {
    try {
      return await asked;
    } catch (error) {
      if (NO_RECORD.has(codeOf(error))) return [];
      throw error;
    }
  };
  return {
    addresses: (name, family) => lookUp(family === 4 ? resolver().resolve4(name) : resolver().resolve6(name)),
    caa: (name) => lookUp(resolver().resolveCaa(name)),
    ownAddresses,
    tryListen,
    holderOf: portHolder,
    tryConnect,
    handshake,
    visit,
    remoteTime,
    now: () => Date.now(),
    space: (folder) => diskSpace(existing(folder)),
    descriptorLimit,
  };
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address)).map(({ address }) => address);
}

function tryListen({ host, port }: Place): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error) ?? error.message));
    server.once('listening', () => server.close(() => resolve(undefined)));
    listenAt(server, { host, port }, 1);
  });
}

async function tryConnect({ host, port }: Place): Promise<string | undefined> {
  const { connect: dial } = await import('node:net');
  return new Promise((resolve) => {
    const socket = dial({ host, port, timeout: TIMEOUT_MS });
    const end = (reason: string | undefined): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end(`no answer within ${TIMEOUT_MS / 1000} s`));
    socket.once('error', (error) => end(codeOf(error) ?? error.message));
  });
}

function handshake({ host, port }: Place, name: string): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      servername: name,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      const isTrusted = socket.authorized;
      const reason = isTrusted ? '' : String(socket.authorizationError ?? '');
      const peer = socket.getPeerCertificate();
      socket.destroy();
      if (certificate === undefined) return reject(new Error('it shows no certificate'));
      resolve({ ...shownBy(certificate, peer, name), isTrusted, reason });
    });
  });
}

function shownBy(
  certificate: X509Certificate,
  peer: PeerCertificate,
  name: string,
): Omit<Shown, 'isTrusted' | 'reason'> {
  return {
    isForHost: checkServerIdentity(name, peer) === undefined,
    isSelfSigned: certificate.issuer === certificate.subject,
    expiresAt: Date.parse(certificate.validTo),
  };
}

function visit(url: URL, at?: Place): Promise<Visited> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const asked = request(
      url,
      {
        agent: false,
        signal,
        rejectUnauthorized: false,
        headers: { host: url.host, accept: 'application/json' },
        ...(at === undefined ? {} : { hostname: at.host, port: at.port, servername: url.hostname }),
      },
      (answer) => {
        const { headers, statusCode: status = 0 } = answer;
        text(answer).then((body) => resolve({ status, body, headers }), reject);
      },
    );
    asked.once('error', (error) =>
      reject(signal.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1000} s`, { cause: error }) : error),
    );
    asked.end();
  });
}

function remoteTime(url: URL, caFile: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    // The answer is dated when it is made; half of the way is below a second.
    const options = { agent: false, signal, ...(caFile === null ? {} : { ca: readFileSync(caFile) }) };
    const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (answer) => {
      answer.resume();
      const at = Date.parse(answer.headers.date ?? '');
      if (Number.isNaN(at)) reject(new Error(`${url.host} sends no date`));
      else resolve(at);
    });
    asked.once('error', (error) =>
      reject(signal.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1000} s`, { cause: error }) : error),
    );
    asked.end();
  });
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

/** The hard limit: Node raises the soft one to it. */
function descriptorLimit(): number | null {
  if (!existsSync('/proc/self/limits')) return null;
  const hard = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return hard === undefined ? null : Number(hard);
}
