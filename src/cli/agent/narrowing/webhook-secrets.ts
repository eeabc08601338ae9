/** Kind and secrets of `--webhook-verify` in their form. Without the schemes (src/signatures/validators.ts): the package for programs has no room for them. */
import { isWebhookKind, WEBHOOK_KINDS, type WebhookKind } from '../../../signatures/kinds.ts';
import { type AskedNarrowing, MAX_WEBHOOK_SECRET, MAX_WEBHOOK_SECRETS } from '../../../wire/narrowing.ts';

type WebhookVerify = NonNullable<AskedNarrowing['webhook_verify']>;

/** Names that users know a scheme by. */
const ALIASES: Readonly<Record<string, WebhookKind>> = { svix: 'standard_webhooks', hmac: 'generic_hmac_sha256' };

/** What a secret of the kind lacks says the server. `where`: where they are, for messages. Throws what `mistake` makes. */
export function webhookOfSecrets(
  text: string,
  of: {
    readonly secrets: readonly string[];
    readonly where: string;
    readonly mistake: (reason: string) => Error;
  },
): WebhookVerify {
  const { secrets, where, mistake } = of;
  const kind = kindOf(text, mistake);
  if (secrets.length === 0) throw mistake(`${where} has no secret`);
  if (secrets.length > MAX_WEBHOOK_SECRETS) throw mistake(`${where} has more than ${MAX_WEBHOOK_SECRETS} secrets`);
  for (const secret of secrets) {
    if (secret === '') throw mistake(`a secret in ${where} is empty`);
    if (secret.length > MAX_WEBHOOK_SECRET) throw mistake(`the secret in ${where} is too long`);
  }
  return { kind, secrets: [...secrets] };
}

/** Throws what `mistake` makes. */
export function kindOf(text: string, mistake: (reason: string) => Error): WebhookKind {
  const name = text.toLowerCase().replaceAll('-', '_');
  const kind = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  if (kind !== undefined && isWebhookKind(kind)) return kind;
  // What else is there may be a secret: it is not repeated.
  const shown = /^[a-z0-9_]{1,30}$/.test(name) ? `"${name}" is none of` : 'takes the kind alone:';
  throw mistake(`${shown} ${WEBHOOK_KINDS.join(', ')}`);
}
