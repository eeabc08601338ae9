/** `culvert invitations`: users who were invited and have not joined yet. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { confirm } from '../terminal/confirm.ts';
import { textFlag } from '../terminal/flags.ts';
import { day, findRow, organizationPath } from './find.ts';

const invitation = z.looseObject({
  id: z.string(),
  email: z.string(),
  role: z.string(),
  invited_by: z.string(),
  expires_at: z.string(),
});
type Invitation = z.output<typeof invitation>;
const resent = z.looseObject({ accept_url: z.string() });

export const invitationsList = apiCommand(async (asked) => {
  await printRows(asked, await listInvitations(asked, await organizationPath(asked)), {
    email: (row) => row.email,
    role: (row) => row.role,
    'invited by': (row) => row.invited_by,
    'until (utc)': (row) => day(row.expires_at),
    id: (row) => row.id,
  });
});

export const invitationsCreate = apiCommand(async (asked) => {
  const [email = ''] = asked.args;
  const role = textFlag(asked.flags, 'role') ?? 'member';
  const answer = await asked.call('POST', `${await organizationPath(asked)}/invitations`, { email, role });
  const made = invitation.parse(answer);
  const done = `${made.email}: invited as ${made.role}, until ${day(made.expires_at)}`;
  await printDone(
    asked,
    answer,
    `${done}\nIf no email arrives, get the link: culvert invitations resend ${made.email}`,
  );
});

export const invitationsResend = apiCommand(async (asked) => {
  const { path, found } = await findInvitation(asked);
  const answer = await asked.call('POST', `${path}/resend`);
  await printDone(asked, answer, `${found.email}: sent again. Link: ${resent.parse(answer).accept_url}`);
});

export const invitationsDelete = apiCommand(async (asked) => {
  const { path, found } = await findInvitation(asked);
  await confirm(asked.io, asked.flags, `Withdraw the invitation of ${found.email}?`);
  const answer = await asked.call('DELETE', path);
  await printDone(asked, answer, `${found.email}: invitation withdrawn`);
});

async function listInvitations(asked: Asked, organization: string): Promise<Invitation[]> {
  return invitation.array().parse(await asked.call('GET', `${organization}/invitations`));
}

async function findInvitation(asked: Asked): Promise<{ path: string; found: Invitation }> {
  const organization = await organizationPath(asked);
  const of = (row: Invitation): string[] => [row.id, row.email.toLowerCase()];
  const handle = (asked.args[0] ?? '').toLowerCase();
  const named = { of, what: 'invitation', list: 'invitations list' };
  const found = findRow(await listInvitations(asked, organization), handle, named);
  return { path: `${organization}/invitations/${encodeURIComponent(found.id)}`, found };
}
