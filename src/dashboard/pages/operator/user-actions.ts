/** What operators do to accounts: what each is called, what happens then, and the call. */
import { type ApiClient, answered } from '../../api/client.ts';
import type { Schemas } from '../../api/types.ts';
import { countText } from '../../parts/format.ts';

export type User = Schemas['User'];

/** What came of it, in a sentence; or a password, to be shown once. */
export type Outcome = { readonly said: string } | { readonly password: string };

export interface UserAction {
  /** As the menu and the button call it. */
  readonly title: string;
  readonly question: (user: User) => string;
  /** What happens then. */
  readonly words: string;
  readonly isOffered: (user: User) => boolean;
  readonly run: (client: ApiClient, user: User) => Promise<Outcome>;
}

export const USER_ACTIONS = {
  lock: {
    title: 'Lock account',
    question: ({ email }) => `Lock the account of ${email}?`,
    words:
      "The user can't sign in until an operator unlocks the account. Their sessions end, and all keys that they made, in every organization: agents with these keys are disconnected. Unlocking does not restore keys.",
    isOffered: ({ is_locked: isLocked }) => !isLocked,
    run: async (client, { id, email }) => {
      const ended = await answered(client.POST('/superadmin/users/{id}/lock', { params: { path: { id } } }));
      return { said: `${email} is locked out. ${endedText(ended)}` };
    },
  },
  unlock: {
    title: 'Unlock account',
    question: ({ email }) => `Unlock the account of ${email}?`,
    words: 'They can log in again. Sessions and keys that the lock has ended stay ended.',
    isOffered: ({ is_locked: isLocked }) => isLocked,
    run: async (client, { id, email }) => {
      await answered(client.POST('/superadmin/users/{id}/unlock', { params: { path: { id } } }));
      return { said: `${email} can log in again.` };
    },
  },
  revokeSessions: {
    title: 'Log out everywhere',
    question: ({ email }) => `Log ${email} out everywhere?`,
    words: 'Their browsers and command lines have to log in again. Keys for machines go on working.',
    isOffered: () => true,
    run: async (client, { id, email }) => {
      const ended = await answered(client.POST('/superadmin/users/{id}/revoke-sessions', { params: { path: { id } } }));
      return { said: `${email} is logged out. ${endedText(ended)}` };
    },
  },
  resetPassword: {
    title: 'Reset password',
    question: ({ email }) => `Reset the password of ${email}?`,
    words:
      'They get a random password, which you see once, and are logged out everywhere. An email notifies them. Their second factor stays.',
    isOffered: () => true,
    run: async (client, { id }) => {
      const { password } = await answered(
        client.POST('/superadmin/users/{id}/reset-password', { params: { path: { id } } }),
      );
      return { password };
    },
  },
  resetMfa: {
    title: 'Reset second factor',
    question: ({ email }) => `Forget the second factor of ${email}?`,
    words:
      'They log in with the password alone until they set up another one; their recovery codes end too. Verify their identity first. An email notifies them.',
    isOffered: ({ mfa_enabled: has }) => has,
    run: async (client, { id, email }) => {
      await answered(client.POST('/superadmin/users/{id}/reset-mfa', { params: { path: { id } } }));
      return { said: `${email} has no second factor now.` };
    },
  },
  grant: {
    title: 'Make operator',
    question: ({ email }) => `Make ${email} an operator?`,
    words: 'They can do everything on this page then: see and change all accounts and organizations, yours too.',
    isOffered: ({ is_superadmin: is }) => !is,
    run: (client, user) => setSuperadmin(client, user, true),
  },
  revokeSuperadmin: {
    title: 'Operator no more',
    question: ({ email }) => `Shall ${email} be an operator no more?`,
    words: 'They keep their account and their organizations, and lose this page.',
    isOffered: ({ is_superadmin: is }) => is,
    run: (client, user) => setSuperadmin(client, user, false),
  },
} as const satisfies Readonly<Record<string, UserAction>>;

export type UserActionName = keyof typeof USER_ACTIONS;
export const USER_ACTION_NAMES = Object.keys(USER_ACTIONS) as UserActionName[];

/** What would end the session that does it, or hide a password for good, is not done to oneself: the account page is for that. */
export function actionsFor(user: User, myId: string): readonly UserActionName[] {
  if (user.id === myId) return USER_ACTIONS.revokeSuperadmin.isOffered(user) ? ['revokeSuperadmin'] : [];
  return USER_ACTION_NAMES.filter((name) => USER_ACTIONS[name].isOffered(user));
}

async function setSuperadmin(client: ApiClient, { id, email }: User, superadmin: boolean): Promise<Outcome> {
  await answered(client.PATCH('/superadmin/users/{id}', { params: { path: { id } }, body: { superadmin } }));
  return { said: superadmin ? `${email} is an operator now.` : `${email} is an operator no more.` };
}

function endedText({ revoked, revoked_keys: keys }: Schemas['EndedSessions']): string {
  return `Ended: ${countText(revoked)} ${revoked === 1 ? 'session' : 'sessions'}, ${countText(keys)} ${keys === 1 ? 'key' : 'keys'}.`;
}
