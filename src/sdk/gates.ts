/** Access control that a program's options add: checked and sent as the flags of the command line. */
import { checkedCredentials } from '../cli/agent/narrowing/basic-auth.ts';
import { requireFits, valuesOf } from '../cli/agent/narrowing/values.ts';
import { webhookOfSecrets } from '../cli/agent/narrowing/webhook-secrets.ts';
import type { Protocol } from '../wire/messages.ts';
import type { AskedNarrowing } from '../wire/narrowing.ts';
import { CulvertError } from './error.ts';
import { asUsage } from './settings.ts';
import type { GateOptions } from './types.ts';

const HTTP_ONLY = ['basicAuth', 'domain', 'visitorLogin', 'policy', 'webhookVerify'] as const;

/** Undefined: none. @throws CulvertError (usage) */
export function gatesOf(options: GateOptions, protocol: Protocol): AskedNarrowing | undefined {
  const foreign = protocol === 'tcp' ? HTTP_ONLY.find((name) => options[name] !== undefined) : undefined;
  if (foreign !== undefined) throw new CulvertError('usage', `${foreign}: is for http and https tunnels only`);
  const { basicAuth, policy, webhookVerify } = options;
  const asked: AskedNarrowing = {
    ...listed(options),
    ...(basicAuth === undefined ? {} : { basic_auth: credentials(basicAuth) }),
    ...(policy === undefined ? {} : { policy: { ...policy } }),
    ...(webhookVerify === undefined ? {} : { webhook_verify: webhook(webhookVerify) }),
  };
  if (Object.keys(asked).length === 0) return undefined;
  return asUsage(() => requireFits(asked));
}

/** What is text in flags, too. */
function listed(options: GateOptions): AskedNarrowing {
  const values = {
    allow_cidr: listOf(options.allowCidr),
    deny_cidr: listOf(options.denyCidr),
    visitor_login: listOf(options.visitorLogin),
    domain: options.domain,
    ttl: options.ttl,
  };
  const mistake = (key: string, text: string): Error => optionMistake(nameOf(key), text);
  return valuesOf({ values, mistake });
}

function credentials({ user, password }: NonNullable<GateOptions['basicAuth']>) {
  if (typeof user !== 'string' || typeof password !== 'string')
    throw optionMistake('basicAuth', 'needs a user and a password');
  if (user.includes(':')) throw optionMistake('basicAuth', 'the user name has a colon');
  return checkedCredentials({ username: user, password }, (reason) => optionMistake('basicAuth', reason));
}

function webhook({ kind, secret }: NonNullable<GateOptions['webhookVerify']>) {
  const mistake = (reason: string): Error => optionMistake('webhookVerify', reason);
  const secrets = listOf(secret) ?? [];
  if (typeof kind !== 'string' || secrets.some((one) => typeof one !== 'string'))
    throw mistake('needs a kind and a secret');
  return webhookOfSecrets(kind, { secrets, where: 'secret', mistake });
}

function listOf(value: string | readonly string[] | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? [value] : [...value];
}

/** `allow_cidr` → `allowCidr`. */
function nameOf(key: string): string {
  return key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function optionMistake(name: string, text: string): CulvertError {
  return new CulvertError('usage', `${name}: ${text}`);
}
