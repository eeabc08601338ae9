/**
 * `--basic-auth`: the user name from the command line, the password from where other users can't read it. In order: `--basic-auth-file`,
 * CULVERT_BASIC_AUTH, a prompt.
 */
import type { AskedNarrowing } from '../../../wire/narrowing.ts';
import { EXIT, ExitError } from '../../terminal/exit.ts';
import { askSecret } from '../../terminal/ask-secret.ts';
import type { Io } from '../../terminal/io.ts';
import { harmless } from '../../terminal/paint.ts';
import { fileText, type NarrowingInput } from './input.ts';

type Credentials = NonNullable<AskedNarrowing['basic_auth']>;

/** The example has the target that was typed. */
const inArgv = (
  typedAs = 'http 3000',
): string => `--basic-auth takes the user name alone: other users of this machine can read a password on the command line. Use one of:
  ${harmless(`culvert ${typedAs} --basic-auth USER`).padEnd(41)}  asks for the password
  CULVERT_BASIC_AUTH=USER:PASSWORD           in the environment
  --basic-auth-file FILE                     a file with the password, or with USER:PASSWORD
If the password you typed is real, change it. It stays in your shell's history.`;

/** Whether only a user at a terminal can say the password. */
export function needsPrompt({ stdin, stderr }: Io, { env, values }: NarrowingInput): boolean {
  const { basic_auth: user, basic_auth_file: file } = values;
  const isNamed = user !== undefined && user !== '' && !user.includes(':');
  return isNamed && file === undefined && !env?.['CULVERT_BASIC_AUTH'] && stdin.isTTY === true && stderr.isTTY === true;
}

/** @throws ExitError: interrupted, or failure for an empty line. */
export function askPassword(io: Io, { values }: NarrowingInput): Promise<string> {
  return askSecret(io, harmless(`Password for visitors (user ${values.basic_auth ?? ''}): `));
}

/** Undefined: no password is required. Throws what `mistake` makes, ExitError. */
export function basicAuthOf(input: NarrowingInput): Credentials | undefined {
  const { values, fileAt, isAlone, typedAs, mistake } = input;
  const { basic_auth: user, basic_auth_file: file } = values;
  if (user?.includes(':') === true)
    throw isAlone ? new ExitError(EXIT.usage, inArgv(typedAs)) : mistake('basic_auth', IN_FILE);
  if (user === '') throw mistake('basic_auth', 'is empty: it takes a user name');
  if (file !== undefined) {
    const wrong = (reason: string): Error => mistake('basic_auth_file', reason);
    const [line = ''] = fileText(fileAt('basic_auth_file', file), wrong).split(/\r?\n/, 1);
    return credentials(line, user, wrong);
  }
  return ofEnvironment(input) ?? (user === undefined ? undefined : ofPrompt(input, user));
}

function ofEnvironment({ env, values, isAlone, mistake }: NarrowingInput): Credentials | undefined {
  const { basic_auth: user } = values;
  const text = env?.['CULVERT_BASIC_AUTH'] ?? '';
  if (text === '' || (user === undefined && !isAlone)) return undefined;
  if (!text.includes(':')) throw mistake('basic_auth', 'CULVERT_BASIC_AUTH must be USER:PASSWORD');
  const of = credentials(text, undefined, (reason) => mistake('basic_auth', `CULVERT_BASIC_AUTH ${reason}`));
  if (user === undefined || user === of.username) return of;
  throw mistake('basic_auth', `CULVERT_BASIC_AUTH is for the user ${of.username}, not ${user}`);
}

function ofPrompt({ env, typed, isAlone, mistake }: NarrowingInput, user: string): Credentials | undefined {
  if (typed !== undefined)
    return checkedCredentials({ username: user, password: typed }, (reason) => mistake('basic_auth', reason));
  if (env === undefined) return undefined;
  const other = isAlone ? ', and there is no terminal for a prompt. Use' : '. Use';
  const file = isAlone ? '--basic-auth-file' : 'basic_auth_file';
  throw mistake('basic_auth', `has no password${other} CULVERT_BASIC_AUTH=USER:PASSWORD or ${file}`);
}

const IN_FILE = 'takes the user name alone. Put the password into basic_auth_file or CULVERT_BASIC_AUTH';

/** `USER:PASSWORD`, or the password alone where the user is known. */
function credentials(text: string, user: string | undefined, mistake: (reason: string) => Error): Credentials {
  if (user !== undefined && !text.startsWith(`${user}:`))
    return checkedCredentials({ username: user, password: text }, mistake);
  const colon = text.indexOf(':');
  if (colon < 0) throw mistake('must have USER:PASSWORD, or use --basic-auth USER too');
  return checkedCredentials({ username: text.slice(0, colon), password: text.slice(colon + 1) }, mistake);
}

/** Throws what `mistake` makes. */
export function checkedCredentials(of: Credentials, mistake: (reason: string) => Error): Credentials {
  if (of.username === '') throw mistake('has no user name');
  if (of.password === '') throw mistake('has no password');
  if (of.username.length > 256 || of.password.length > 256) throw mistake('has more than 256 characters');
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(of.username + of.password)) throw mistake('has a control character');
  return of;
}
