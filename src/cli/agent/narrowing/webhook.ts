/**
 * `--webhook-verify`: the kind of sender from the command line, its secrets from where other users can't read them. In order:
 * `--webhook-secret-file`, CULVERT_WEBHOOK_SECRET. One secret a line.
 */
import { secretProblem } from '../../../signatures/validators.ts';
import type { AskedNarrowing } from '../../../wire/narrowing.ts';
import { fileText, type NarrowingInput } from './input.ts';
import { kindOf, webhookOfSecrets } from './webhook-secrets.ts';

type WebhookVerify = NonNullable<AskedNarrowing['webhook_verify']>;

const VARIABLE = 'CULVERT_WEBHOOK_SECRET';
/** A public key in PEM has several lines. */
const PEM = /-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g;

/** Undefined: no signature is required. Throws what `mistake` makes. */
export function webhookOf(input: NarrowingInput): WebhookVerify | undefined {
  const { values, env, fileAt, isAlone, mistake } = input;
  const { webhook_verify: text, webhook_secret_file: file } = values;
  if (text === undefined) {
    if (file !== undefined) throw mistake('webhook_secret_file', `needs the kind of sender: ${kindsOf(isAlone)}`);
    // A user who gives a secret expects signatures to be required.
    if (isAlone && env?.[VARIABLE])
      throw mistake('webhook_verify', `is missing, and ${VARIABLE} is set. Add --webhook-verify KIND, or unset it`);
    return undefined;
  }
  // The kind is checked where no secret is looked for, too.
  const kind = kindOf(text, (reason) => mistake('webhook_verify', reason));
  if (file === undefined && env === undefined) return undefined;
  const wrong = (reason: string): Error =>
    mistake(file === undefined ? 'webhook_verify' : 'webhook_secret_file', reason);
  const found = file === undefined ? (env?.[VARIABLE] ?? '') : fileText(fileAt('webhook_secret_file', file), wrong);
  const secrets = secretsIn(found);
  if (secrets.length === 0 && file === undefined) throw wrong(missing(isAlone));
  const of = webhookOfSecrets(kind, { secrets, where: file ?? VARIABLE, mistake: wrong });
  const problem = secrets.map((secret) => secretProblem(kind, secret)).find((one) => one !== null);
  if (problem !== undefined) throw wrong(`the secret in ${file ?? VARIABLE} ${problem}`);
  return of;
}

function kindsOf(isAlone: boolean): string {
  return isAlone ? 'add --webhook-verify KIND' : 'add webhook_verify = "KIND"';
}

function missing(isAlone: boolean): string {
  return `has no secret. Use ${isAlone ? '--webhook-secret-file FILE' : 'webhook_secret_file'} or ${VARIABLE}`;
}

function secretsIn(text: string): string[] {
  const keys = text.match(PEM);
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return keys === null ? lines.filter((line) => line !== '') : [...keys];
}
