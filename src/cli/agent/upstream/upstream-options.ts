/**
 * The way to the service, as flags of `http`, `https` and `tcp` or as keys of a settings file say it: made into a target, with its files read.
 * A mistake names the flag or the key, and of a file also the file and the reason.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isUpstreamProtocol, overHttp2, type UpstreamProtocol } from '../../../agent/http2/service.ts';
import { type LocalTarget, type ParsedTarget, parseTarget, TargetError } from '../../../agent/local/target.ts';
import { durationMs } from '../../../base/duration.ts';
import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Protocol } from '../../../wire/messages.ts';
import type { UpstreamForm } from '../../../wire/upstream-form.ts';
import { formOf } from './upstream-form.ts';
import { UPSTREAM_KEYS, type UpstreamInput, type UpstreamKey } from './upstream-input.ts';

/** What TLS alone uses. */
export const TLS_KEYS = ['upstream_ca', 'upstream_sni', 'upstream_cert', 'upstream_key'] as const;
/** A visitor waits no longer for a response (`edge.limits.local_timeout`), so that a longer time would never end. */
const MAX_CONNECT_MS = 300_000;
const MAX_FILE_BYTES = 1_048_576;

/** A target, and how the server writes requests to it. */
export interface Upstream {
  readonly target: LocalTarget;
  readonly protocol: Protocol;
  readonly upstream: UpstreamForm | undefined;
}

/** @throws what `mistake` makes */
export function upstreamOf(input: UpstreamInput): Upstream {
  const { values, mistake } = input;
  if (input.protocol === 'tcp') {
    const foreign = UPSTREAM_KEYS.find((key) => key !== 'upstream_connect_timeout' && values[key] !== undefined);
    if (foreign !== undefined) throw mistake(foreign, 'is for http and https tunnels only');
  }
  const options = {
    // A user who names the authorities wants the check.
    verifyTls: input.verifyTls || values.upstream_ca !== undefined,
    proxyProtocol: input.proxyProtocol,
    serverName: sniOf(input),
    secureContext: secureContextOf(input),
    connectTimeoutMs: connectTimeoutOf(input),
  };
  const parsed = parsedTarget(input, options);
  const isUsed = parsed.target.tls || input.isOneOfSeveral === true;
  const unused = isUsed ? undefined : TLS_KEYS.find((key) => values[key] !== undefined);
  if (unused !== undefined) {
    throw mistake(
      unused,
      'is for services that speak TLS. Use `culvert https`, or a target such as https://localhost:8443',
    );
  }
  const mode = protocolOf(input);
  const target = mode === 'http1' ? parsed.target : overHttp2(parsed.target, mode);
  return { target, protocol: parsed.protocol, upstream: formOf(input, parsed) };
}

function protocolOf({ values: { upstream_protocol: text = 'http1' }, mistake }: UpstreamInput): UpstreamProtocol {
  if (isUpstreamProtocol(text)) return text;
  const meant = /^(?:h2c?|grpc|http\/?2)$/i.test(text) ? '. Use http2' : '';
  throw mistake('upstream_protocol', `"${text}" is not http1, http2 or auto${meant}`);
}

function parsedTarget(
  { target, protocol, mistake }: UpstreamInput,
  options: Parameters<typeof parseTarget>[2],
): ParsedTarget {
  try {
    return parseTarget(target, protocol, options);
  } catch (error) {
    if (error instanceof TargetError) throw mistake('target', error.message);
    throw error;
  }
}

function sniOf({ values: { upstream_sni: name }, mistake }: UpstreamInput): string | undefined {
  if (name === undefined) return undefined;
  if (isIP(name) !== 0 || !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) {
    throw mistake('upstream_sni', `"${name}" is not a host name`);
  }
  return name;
}

function connectTimeoutOf({ values: { upstream_connect_timeout: text }, mistake }: UpstreamInput): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (ms === undefined || ms < 1 || ms > MAX_CONNECT_MS) {
    throw mistake('upstream_connect_timeout', `"${text}" is not a time from 1ms to 5m, such as 3s`);
  }
  return ms;
}

/** Undefined: no file is named. Made once, so that a connection costs no reading. */
function secureContextOf(input: UpstreamInput): SecureContext | undefined {
  const { upstream_ca, upstream_cert, upstream_key } = input.values;
  if (upstream_cert !== undefined && upstream_key === undefined)
    throw input.mistake('upstream_cert', 'needs the private key too: --upstream-key or upstream_key');
  if (upstream_key !== undefined && upstream_cert === undefined)
    throw input.mistake('upstream_key', 'needs the certificate too: --upstream-cert or upstream_cert');
  if (upstream_ca === undefined && upstream_cert === undefined) return undefined;
  for (const key of ['upstream_cert', 'upstream_key'] as const)
    if (upstream_cert !== undefined) input.requireOwn?.(key, pathOf(input, key));
  const ca = upstream_ca === undefined ? undefined : authoritiesOf(input);
  if (upstream_cert === undefined) return createSecureContext({ ca });
  const cert = readPem(input, 'upstream_cert', 'CERTIFICATE');
  const key = readPem(input, 'upstream_key', 'PRIVATE KEY');
  tryOut(input, 'upstream_cert', { cert });
  if (/ENCRYPTED/.test(key.slice(0, 200)))
    throw input.mistake(
      'upstream_key',
      `${pathOf(input, 'upstream_key')} is encrypted. Use a key without a passphrase`,
    );
  return tryOut(input, 'upstream_key', { ca, cert, key });
}

/** Node leaves out what it can't read of a list of authorities, without a word. */
function authoritiesOf(input: UpstreamInput): string {
  const text = readPem(input, 'upstream_ca', 'CERTIFICATE');
  try {
    for (const block of text.match(/-----BEGIN (?:[A-Z]+ )*CERTIFICATE-----[^-]+-----END [A-Z ]+-----/g) ?? [])
      new X509Certificate(block);
  } catch (error) {
    throw input.mistake('upstream_ca', `${pathOf(input, 'upstream_ca')} can't be used: ${messageOf(error)}`);
  }
  return text;
}

function tryOut(
  input: UpstreamInput,
  key: UpstreamKey,
  options: Parameters<typeof createSecureContext>[0],
): SecureContext {
  try {
    return createSecureContext(options);
  } catch (error) {
    const path = pathOf(input, key);
    const isOther = /mismatch/i.test(messageOf(error));
    const other = `${path} is the key of another certificate than ${input.values.upstream_cert ?? ''}`;
    throw input.mistake(key, isOther ? other : `${path} can't be used: ${messageOf(error)}`);
  }
}

function readPem(input: UpstreamInput, key: UpstreamKey, kind: 'CERTIFICATE' | 'PRIVATE KEY'): string {
  const path = pathOf(input, key);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    const reason = code === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw input.mistake(key, `${path} can't be read: ${reason}`);
  }
  if (text.length > MAX_FILE_BYTES) throw input.mistake(key, `${path} is larger than 1 MB`);
  const blocks = text.match(new RegExp(`-----BEGIN (?:[A-Z]+ )*${kind}-----[^-]+-----END`, 'g'));
  if (blocks === null)
    throw input.mistake(key, `${path} has no ${kind.toLowerCase()} in PEM form (-----BEGIN ${kind}-----)`);
  return text;
}

function pathOf({ values, folder }: UpstreamInput, key: UpstreamKey): string {
  const name = values[key] ?? '';
  return name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(folder, name);
}
