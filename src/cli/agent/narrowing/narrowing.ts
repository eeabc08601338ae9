/** From flags, or keys of `[tunnels.NAME]`, to what the server adds in front of a tunnel (wire/narrowing.ts). Forms are checked here, rules by the server. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { durationMs } from '../../../base/duration.ts';
import { messageOf } from '../../../base/errors.ts';
import { parseNetwork } from '../../../base/net/addr.ts';
import type { Protocol } from '../../../wire/messages.ts';
import { type AskedNarrowing, flagOf, MAX_NARROWING_BYTES } from '../../../wire/narrowing.ts';
import type { Invocation } from '../../terminal/command.ts';
import { usageError } from '../../terminal/exit.ts';
import { countFlag, listsFlag, refuseFlags, textFlag } from '../../terminal/flags.ts';
import type { Io } from '../../terminal/io.ts';
import { askPassword, basicAuthOf, needsPrompt } from './basic-auth.ts';
import { fileText, type NarrowingInput } from './input.ts';

const HTTP_ALONE = 'is for http and https tunnels only';
const TCP_ALONE = 'is for tcp tunnels only';
const HTTP_ONLY = ['basic_auth', 'basic_auth_file', 'policy', 'visitor_login', 'domain'] as const;

/** Of the flags of `http`, `https` and `tcp`. @throws ExitError (usage) */
export async function narrowingOfFlags(
  io: Io,
  { flags }: Invocation,
  protocol: Protocol,
): Promise<AskedNarrowing | undefined> {
  if (protocol === 'tcp')
    refuseFlags(flags, ['basicAuth', 'basicAuthFile', 'policy', 'visitorLogin', 'domain'], HTTP_ALONE);
  else refuseFlags(flags, ['remotePort'], TCP_ALONE);
  const values = {
    allow_cidr: listsFlag(flags, 'allowCidr'),
    deny_cidr: listsFlag(flags, 'denyCidr'),
    basic_auth: textFlag(flags, 'basicAuth'),
    basic_auth_file: textFlag(flags, 'basicAuthFile'),
    policy: textFlag(flags, 'policy'),
    visitor_login: listsFlag(flags, 'visitorLogin'),
    ttl: textFlag(flags, 'ttl'),
    domain: textFlag(flags, 'domain'),
    remote_port: countFlag(flags, 'remotePort'),
  };
  const mistake: NarrowingInput['mistake'] = (key, text) => usageError(`${flagOf(key)}: ${text}`);
  const input = { env: io.env, protocol, values, folder: io.cwd, isAlone: true, mistake };
  return narrowingOf(needsPrompt(io, input) ? { ...input, typed: await askPassword(io, input) } : input);
}

/** Undefined when nothing is set. Throws what `mistake` makes. */
export function narrowingOf(input: NarrowingInput): AskedNarrowing | undefined {
  const { protocol, values, mistake } = input;
  const foreign = protocol === 'tcp' ? HTTP_ONLY.find((key) => values[key] !== undefined) : undefined;
  if (foreign !== undefined) throw mistake(foreign, HTTP_ALONE);
  if (protocol !== 'tcp' && values.remote_port !== undefined) throw mistake('remote_port', TCP_ALONE);
  if (protocol === 'tcp' && input.isAlone && input.env?.['CULVERT_BASIC_AUTH'])
    throw mistake('basic_auth', `CULVERT_BASIC_AUTH ${HTTP_ALONE}`);
  const basicAuth = protocol === 'tcp' ? undefined : basicAuthOf(input);
  const asked: AskedNarrowing = {
    ...networks('allow_cidr', input),
    ...networks('deny_cidr', input),
    ...(basicAuth === undefined ? {} : { basic_auth: basicAuth }),
    ...(values.policy === undefined ? {} : { policy: policyIn(input, values.policy) }),
    ...(values.visitor_login === undefined ? {} : { visitor_login: values.visitor_login }),
    ...(values.domain === undefined ? {} : { domain: hostOf(values.domain, mistake) }),
    ...(values.remote_port === undefined ? {} : { remote_port: portOf(values.remote_port, mistake) }),
    ...(values.ttl === undefined ? {} : { ttl: { seconds: secondsOf(values.ttl, mistake) } }),
  };
  const names = Object.keys(asked);
  if (names.length === 0) return undefined;
  if (Buffer.byteLength(JSON.stringify(asked)) <= MAX_NARROWING_BYTES) return asked;
  throw usageError(`${names.map(flagOf).join(', ')}: together more than ${MAX_NARROWING_BYTES / 1024} KiB`);
}

function networks(key: 'allow_cidr' | 'deny_cidr', { values, mistake }: NarrowingInput): AskedNarrowing {
  const given = values[key];
  if (given === undefined) return {};
  if (given.length === 0) throw mistake(key, 'has no network');
  const wrong = given.find((network) => parseNetwork(network) === undefined);
  if (wrong !== undefined) throw mistake(key, `"${wrong}" is no IP address and no network such as 10.0.0.0/8`);
  return { [key]: given };
}

function secondsOf(text: string, mistake: NarrowingInput['mistake']): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < 1_000) throw mistake('ttl', `"${text}" is no time such as 30m, 2h or 7d`);
  return Math.floor(ms / 1_000);
}

function portOf(port: number, mistake: NarrowingInput['mistake']): number {
  if (port >= 1 && port <= 65_535) return port;
  throw mistake('remote_port', `${port} is no port from 1 to 65535`);
}

/** In the form that the server keeps: lower case, ASCII. */
function hostOf(name: string, mistake: NarrowingInput['mistake']): string {
  const host = domainToASCII(name.replace(/\.$/, ''));
  if (host !== '' && isIP(host) === 0 && /^[a-z0-9.-]+$/.test(host)) return host;
  throw mistake('domain', `"${name}" is no domain such as shop.example.com`);
}

function policyIn({ folder, mistake }: NarrowingInput, name: string): Record<string, unknown> {
  const policy = parsed(name, { folder, mistake });
  if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return { ...policy };
  throw mistake('policy', `${name} is no policy. It begins with {"actions": […]}`);
}

function parsed(name: string, { folder, mistake }: Pick<NarrowingInput, 'folder' | 'mistake'>): unknown {
  const text = fileText(resolve(folder, name), (reason) => mistake('policy', reason));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw mistake('policy', `${name} is no JSON: ${messageOf(error)}`);
  }
}
