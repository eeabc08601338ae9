/** From flags, or keys of `[tunnels.NAME]`, to what the server adds in front of a tunnel (wire/narrowing.ts). Forms are checked here, rules by the server. */
import { resolve } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { looksLikeYaml } from '../../../config/text/foreign-keys.ts';
import type { Protocol } from '../../../wire/messages.ts';
import { type AskedNarrowing, flagOf } from '../../../wire/narrowing.ts';
import type { Invocation } from '../../terminal/command.ts';
import { usageError } from '../../terminal/exit.ts';
import { countFlag, listsFlag, refuseFlags, textFlag } from '../../terminal/flags.ts';
import type { Io } from '../../terminal/io.ts';
import { askPassword, basicAuthOf, needsPrompt } from './basic-auth.ts';
import { fileText, type NarrowingInput } from './input.ts';
import { requireFits, valuesOf } from './values.ts';
import { webhookOf } from './webhook.ts';

const NOT_JSON =
  'looks like YAML. Policies of ngrok do not work here: Culvert reads JSON of its own form, {"actions": […]}. See "Traffic policies" in the documentation';
const HTTP_ALONE = 'is for http and https tunnels only';
const TCP_ALONE = 'is for tcp tunnels only';
const HTTP_ONLY = [
  ...(['basic_auth', 'basic_auth_file', 'policy', 'visitor_login', 'domain'] as const),
  ...(['webhook_verify', 'webhook_secret_file'] as const),
] as const;
const HTTP_FLAGS = HTTP_ONLY.map((key) => key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()));

/** Of the flags of `http`, `https`, `tcp` and `files`. @throws ExitError (usage) */
export async function narrowingOfFlags(
  io: Io,
  { args, flags }: Invocation,
  command: Protocol | 'files',
): Promise<AskedNarrowing | undefined> {
  const protocol = command === 'files' ? 'http' : command;
  if (protocol === 'tcp') refuseFlags(flags, HTTP_FLAGS, HTTP_ALONE);
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
    webhook_verify: textFlag(flags, 'webhookVerify'),
    webhook_secret_file: textFlag(flags, 'webhookSecretFile'),
    remote_port: countFlag(flags, 'remotePort'),
  };
  const mistake: NarrowingInput['mistake'] = (key, text) => usageError(`${flagOf(key)}: ${text}`);
  const fileAt: NarrowingInput['fileAt'] = (_key, name) => resolve(io.cwd, name);
  const input = {
    env: io.env,
    protocol,
    values,
    fileAt,
    isAlone: true,
    typedAs: `${command} ${args.join(' ')}`,
    mistake,
  };
  return narrowingOf(needsPrompt(io, input) ? { ...input, typed: await askPassword(io, input) } : input);
}

/** Undefined when nothing is set. Throws what `mistake` makes. */
export function narrowingOf(input: NarrowingInput): AskedNarrowing | undefined {
  const { protocol, values, mistake } = input;
  const foreign = protocol === 'tcp' ? HTTP_ONLY.find((key) => values[key] !== undefined) : undefined;
  if (foreign !== undefined) throw mistake(foreign, HTTP_ALONE);
  if (protocol !== 'tcp' && values.remote_port !== undefined) throw mistake('remote_port', TCP_ALONE);
  if (protocol === 'tcp') requireNone(input);
  const basicAuth = protocol === 'tcp' ? undefined : basicAuthOf(input);
  const webhook = protocol === 'tcp' ? undefined : webhookOf(input);
  const asked: AskedNarrowing = {
    ...valuesOf(input),
    ...(basicAuth === undefined ? {} : { basic_auth: basicAuth }),
    ...(values.policy === undefined ? {} : { policy: policyIn(input, values.policy) }),
    ...(webhook === undefined ? {} : { webhook_verify: webhook }),
  };
  return Object.keys(asked).length === 0 ? undefined : requireFits(asked);
}

/** A user who gives a secret in the environment expects it to be required. */
function requireNone({ env, isAlone, mistake }: NarrowingInput): void {
  if (!isAlone) return;
  if (env?.['CULVERT_BASIC_AUTH']) throw mistake('basic_auth', `CULVERT_BASIC_AUTH ${HTTP_ALONE}`);
  if (env?.['CULVERT_WEBHOOK_SECRET']) throw mistake('webhook_verify', `CULVERT_WEBHOOK_SECRET ${HTTP_ALONE}`);
}

function policyIn({ fileAt, mistake }: NarrowingInput, name: string): Record<string, unknown> {
  const policy = parsed(name, { fileAt, mistake });
  if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return { ...policy };
  throw mistake('policy', `${name} is no policy. It begins with {"actions": […]}`);
}

function parsed(name: string, { fileAt, mistake }: Pick<NarrowingInput, 'fileAt' | 'mistake'>): unknown {
  const text = fileText(fileAt('policy', name), (reason) => mistake('policy', reason));
  try {
    return JSON.parse(text);
  } catch (error) {
    if (looksLikeYaml(text, name)) throw mistake('policy', `${name} ${NOT_JSON}`);
    throw mistake('policy', `${name} is no JSON: ${messageOf(error)}`);
  }
}
