/**
 * Certificates of the agent listener and of the edge: read from files, or self-signed and kept in the data folder. Called by start.ts.
 *
 * A self-signed certificate is remade when its names change or its end is near, but its key stays: agents pin the key, so a renewal
 * locks no agent out.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { writeDurably } from '../../base/process/durable-file.ts';
import { fileFault } from '../../base/process/file-fault.ts';
import { messageOf } from '../../base/errors.ts';
import { isSelfSigned } from '../../base/net/self-signed.ts';

export interface Certificate {
  /** PEM, leaf first. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface CertificateFiles {
  readonly cert_file: string | null;
  readonly key_file: string | null;
}

/** Longest that browsers accept for a certificate of a public name; harmless for one that they warn about anyway. */
export const EDGE_DAYS = 397;
/** Agents trust the pinned key, not the date. */
export const AGENT_DAYS = 3650;
/** Remade when less than this is left. */
const RENEW_DAYS = 30;
/** Clocks of agents and visitors may be behind ours. */
const BACKDATE_MS = HOUR_MS;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Reads a certificate and its key. Throws when one is missing or broken, the chain too, or they don't belong together. */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  const cert = parsed(certFile, 'certificate', (text) => new X509Certificate(text));
  const key = parsed(keyFile, 'private key', createPrivateKey);
  if (!cert.made.checkPrivateKey(key.made)) throw new Error(`${keyFile} does not match ${certFile}`);
  try {
    createSecureContext({ cert: cert.text, key: key.text });
  } catch (cause) {
    throw new Error(`${certFile} can't be used: ${messageOf(cause)}`, { cause });
  }
  return { cert: cert.text, key: key.text };
}

/** OpenSSL's own words name neither the file nor what it should hold. */
function parsed<T>(file: string, what: string, make: (text: string) => T): { readonly text: string; readonly made: T } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw fileFault(cause, { doing: `${file} can't be read`, file });
  }
  try {
    return { text, made: make(text) };
  } catch (cause) {
    const why = text.trim() === '' ? 'it is empty' : messageOf(cause);
    throw new Error(`${file} has no ${what} in PEM format: ${why}`, { cause });
  }
}

/** The pair of files when both are given. */
export function fromFiles(files: CertificateFiles): Certificate | undefined {
  const pair = pairOf(files);
  return pair === undefined ? undefined : readCertificate(pair.certFile, pair.keyFile);
}

export interface SelfSignedOptions {
  readonly dataDir: string;
  /** Name of the files in the data folder. */
  readonly name: 'agents' | 'edge';
  /** DNS names and IP addresses; the first is the subject. */
  readonly names: readonly string[];
  readonly days: number;
  readonly nowMs: number;
}

/** The self-signed certificate of this name in the data folder, made or remade where needed. */
export async function keepSelfSigned(options: SelfSignedOptions): Promise<Certificate> {
  const dir = join(options.dataDir, 'certificates');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const certFile = join(dir, `${options.name}.crt`);
  const key = keepKey(join(dir, `${options.name}.key`));
  if (existsSync(certFile)) {
    const cert = readFileSync(certFile, 'utf8');
    if (isStillGood(cert, key, options)) return { cert, key };
  }
  const cert = await makeSelfSigned(createPrivateKey(key), options);
  writeDurably(certFile, cert, { replaces: true });
  return { cert, key };
}

/** `sha256:<hex>` of the public key (SPKI): what agents pin. */
export function fingerprintOf(cert: string): string {
  const spki = new X509Certificate(cert).publicKey.export({ format: 'der', type: 'spki' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** What the discovery document says of the agents' certificate: its fingerprint when no authority signed it, else nothing. */
export function pinOf(cert: string): { readonly agent_fingerprint?: string } {
  return isSelfSigned(cert) ? { agent_fingerprint: fingerprintOf(cert) } : {};
}

function keepKey(file: string): string {
  if (existsSync(file)) return readKey(file);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: ALGORITHM.namedCurve });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  // Agents pin it: a power cut must not take it after the first of them has.
  writeDurably(file, pem, { replaces: true });
  return pem;
}

/** Throws with what to do when no key is in it: a new one would lock out the agents that pin this one. */
function readKey(file: string): string {
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (cause) {
    throw fileFault(cause, { doing: `${file} can't be read`, file });
  }
  try {
    createPrivateKey(pem);
    return pem;
  } catch (cause) {
    const why = pem.trim() === '' ? 'it is empty' : 'it is not a private key';
    throw new Error(
      `${file} is damaged: ${why}. Restore it from your backup, or delete it. The server then creates a new key, and agents that pin the old one need the new fingerprint.`,
      { cause },
    );
  }
}

function isStillGood(cert: string, key: string, options: SelfSignedOptions): boolean {
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) return false;
  if (leaf.validToDate.getTime() - options.nowMs < RENEW_DAYS * DAY_MS) return false;
  const has = new Set((leaf.subjectAltName ?? '').split(', '));
  return (
    has.size === options.names.length &&
    options.names.every((name) => has.has(isIP(name) === 0 ? `DNS:${name}` : `IP Address:${name}`))
  );
}

async function makeSelfSigned(privateKey: KeyObject, options: SelfSignedOptions): Promise<string> {
  // Loaded here and not at the top: it takes 120 ms, and a start that finds its certificates needs none of it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  const signing = await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, true, ['sign']);
  const jwk = await webcrypto.subtle.exportKey('jwk', signing);
  const { kty = '', crv = '', x = '', y = '' } = jwk;
  const verifying = await webcrypto.subtle.importKey('jwk', { kty, crv, x, y }, ALGORITHM, true, ['verify']);
  const usage = x509.KeyUsageFlags.digitalSignature;
  const made = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: [options.names[0] ?? 'culvert'] }],
      notBefore: new Date(options.nowMs - BACKDATE_MS),
      notAfter: new Date(options.nowMs - BACKDATE_MS + options.days * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys: { privateKey: signing, publicKey: verifying },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(usage, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          options.names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
        ),
      ],
    },
    webcrypto,
  );
  return `${made.toString('pem')}\n`;
}

/** The settings that decide which certificates there are. */
export interface CertificateSettings {
  readonly data_dir: string;
  readonly edge: {
    readonly domain: string;
    readonly https_listen: object | null;
    readonly tls: CertificateFiles & { readonly mode: string };
  };
  readonly agents: CertificateFiles;
  /** Of the API at the edge, where it has a name that the others do not cover. */
  readonly apiHost?: string | undefined;
}

export interface Certificates {
  readonly agents: Certificate;
  /** Null when the edge speaks plain HTTP only. */
  readonly edge: Certificate | null;
}

/** A pair of files that is in use. */
export interface UsedPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly edge: boolean;
  readonly agents: boolean;
}

/** The pairs of files that `loadCertificates` takes certificates from: none, one for both listeners, or two. */
export function pairsInUse({ edge, agents }: CertificateSettings): readonly UsedPair[] {
  const ofEdge = edge.tls.mode === 'files' ? pairOf(edge.tls) : undefined;
  const ofAgents = pairOf(agents);
  return [
    ...(ofEdge === undefined ? [] : [{ ...ofEdge, edge: edge.https_listen !== null, agents: ofAgents === undefined }]),
    ...(ofAgents === undefined ? [] : [{ ...ofAgents, edge: false, agents: true }]),
  ].filter((pair) => pair.edge || pair.agents);
}

function pairOf({ cert_file: certFile, key_file: keyFile }: CertificateFiles) {
  return certFile === null || keyFile === null ? undefined : { certFile, keyFile };
}

/** Both certificates: from the files that settings name, else self-signed in the data folder. */
export async function loadCertificates(settings: CertificateSettings, nowMs: number): Promise<Certificates> {
  const { edge, agents } = settings;
  const edgeFiles = edge.tls.mode === 'files' ? fromFiles(edge.tls) : undefined;
  const agentFiles = fromFiles(agents) ?? edgeFiles;
  const own = await keepOwnCertificates(settings, nowMs);
  const ofAgents = agentFiles ?? own.agents;
  if (ofAgents === null) throw new Error('agents have a certificate of files, or one of their own');
  const isOff = edge.https_listen === null || edge.tls.mode === 'off';
  return { agents: ofAgents, edge: isOff ? null : (edgeFiles ?? own.edge) };
}

/** The self-signed ones among them, made or remade where needed; null: that listener takes its own from files, or has none. */
export async function keepOwnCertificates(
  { edge, agents, data_dir: dataDir, apiHost }: CertificateSettings,
  nowMs: number,
): Promise<{ readonly agents: Certificate | null; readonly edge: Certificate | null }> {
  const { mode } = edge.tls;
  const hasFiles = mode === 'files' && pairOf(edge.tls) !== undefined;
  const local = ['localhost', '127.0.0.1'];
  const known = new Set([`*.${edge.domain}`, edge.domain, ...local]);
  const isNamed = apiHost === undefined || known.has(apiHost) || known.has(`*.${apiHost.replace(/^[^.]*\./, '')}`);
  const names = [...known, ...(isNamed ? [] : [apiHost])];
  // With ACME it stands in for what has not come: a name that it held would count as one that has its certificate.
  const held = mode === 'acme' ? local : names;
  const keep = (name: SelfSignedOptions['name'], of: readonly string[], days: number) =>
    keepSelfSigned({ dataDir, name, names: of, days, nowMs });
  return {
    agents: hasFiles || pairOf(agents) !== undefined ? null : await keep('agents', names, AGENT_DAYS),
    edge: hasFiles || edge.https_listen === null || mode === 'off' ? null : await keep('edge', held, EDGE_DAYS),
  };
}
