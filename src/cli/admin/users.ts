/** `culvert admin` for accounts. A password is printed once, on the line after its address. */
import { z } from 'zod';
import type { Operator } from '../../server/admin.ts';
import { handOver, print } from '../terminal/io.ts';
import { type Asked, operatorCommand, pathOf, printList, retyped } from './operator.ts';
import { harmless } from '../terminal/paint.ts';

const withPassword = z.object({ email: z.string(), password: z.string() });

const link = z.object({ url: z.string(), expires_at: z.string() });

const ended = z.object({ revoked: z.int(), revoked_keys: z.int() });

const user = z.looseObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  email_verified: z.boolean(),
  mfa_enabled: z.boolean(),
  is_superadmin: z.boolean(),
  is_locked: z.boolean(),
  created_at: z.string(),
  orgs: z.array(z.looseObject({ slug: z.string(), role: z.string() })),
});

/** Prints the address and, on the next line, the password, as the first start does. */
export const createUser = operatorCommand(async (asked) => {
  const {
    operator,
    args: [email],
    flags,
  } = asked;
  const name = typeof flags['name'] === 'string' ? { name: flags['name'] } : {};
  const body = { email, superadmin: flags['superadmin'] === true, ...name };
  await printPassword(asked, await operator.call('POST', '/superadmin/users', body));
});

export const listUsers = operatorCommand((asked) =>
  printList(asked, {
    path: '/superadmin/users',
    filter: { query: asked.flags['query'] },
    schema: user,
    cursorOf: (row) => row.id,
    columns: {
      email: (row) => row.email,
      name: (row) => row.name,
      verified: (row) => yes(row.email_verified),
      mfa: (row) => yes(row.mfa_enabled),
      superadmin: (row) => yes(row.is_superadmin),
      locked: (row) => yes(row.is_locked),
      organizations: (row) => row.orgs.map(({ slug, role }) => `${slug} (${role})`).join(', '),
      since: (row) => row.created_at.slice(0, 10),
    },
  }),
);

export const resetPassword = operatorCommand(async (asked) =>
  printPassword(asked, await userAction(asked.operator, asked.args[0], 'reset-password')),
);

/** Prints the link alone on the first line, for scripts. */
export const passwordLink = operatorCommand(async ({ operator, io, file, args: [email] }) => {
  const { url, expires_at: end } = link.parse(await userAction(operator, email, 'password-link'));
  const lost = `The link is lost. Create another: ${retyped(`admin password-link ${email}`, file)}`;
  await handOver(io.stdout, `${url}\nThe link works once, until ${end}.`, harmless(lost));
});

export const resetMfa = operatorCommand(async ({ operator, io, args: [email] }) => {
  const { reset } = z.object({ reset: z.boolean() }).parse(await userAction(operator, email, 'reset-mfa'));
  await print(
    io.stdout,
    `${email}: ${reset ? 'two-factor authentication removed' : 'two-factor authentication was not set up'}`,
  );
});

export const revokeSessions = operatorCommand(async ({ operator, io, args: [email] }) => {
  await print(io.stdout, `${email}: ${saidOf(await userAction(operator, email, 'revoke-sessions'))}`);
});

export const lockUser = operatorCommand(async ({ operator, io, args: [email] }) => {
  await print(io.stdout, `${email}: locked; ${saidOf(await userAction(operator, email, 'lock'))}`);
});

export const unlockUser = operatorCommand(async ({ operator, io, args: [email] }) => {
  const { unlocked } = z.object({ unlocked: z.boolean() }).parse(await userAction(operator, email, 'unlock'));
  await print(io.stdout, `${email}: ${unlocked ? 'unlocked' : 'was not locked'}`);
});

function saidOf(answer: unknown): string {
  const { revoked, revoked_keys: keys } = ended.parse(answer);
  return `sessions ended: ${revoked}, keys revoked: ${keys}`;
}

function userAction(operator: Operator, email: string | undefined, name: string): Promise<unknown> {
  return operator.call('POST', pathOf('users', email, name));
}

async function printPassword({ io, file }: Asked, answer: unknown): Promise<void> {
  const { email, password } = withPassword.parse(answer);
  const lost = `The password is lost. Create another: ${retyped(`admin reset-password ${email}`, file)}`;
  await handOver(io.stdout, `${harmless(email)}\n${password}`, harmless(lost));
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no';
}
