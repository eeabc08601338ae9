/** Actions of operators on accounts: label, confirmation and API call. */
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
      "The user can't log in until an operator unlocks the account. Their sessions end. Their keys in all organizations are revoked, and agents with these keys are disconnected. Unlocking does not restore keys.",
    isOffered: ({ is_locked: isLocked }) => !isLocked,
    run: async (client, { id, email }) => {
      const ended = await answered(client.POST('/superadmin/users/{id}/lock', { params: { path: { id } } }));
      return { said: `${email} locked. ${endedText(ended)}` };
    },
  },
  unlock: {
    title: 'Unlock account',
    question: ({ email }) => `Unlock the account of ${email}?`,
    words: 'The user can log in again. Ended sessions and revoked keys are not restored.',
    isOffered: ({ is_locked: isLocked }) => isLocked,
    run: async (client, { id, email }) => {
      await answered(client.POST('/superadmin/users/{id}/unlock', { params: { path: { id } } }));
      return { said: `${email} unlocked.` };
    },
  },
  revokeSessions: {
    title: 'Log out everywhere',
    question: ({ email }) => `Log ${email} out everywhere?`,
    words: 'The user must log in again in all browsers and CLIs. Access keys keep working.',
    isOffered: () => true,
    run: async (client, { id, email }) => {
      const ended = await answered(client.POST('/superadmin/users/{id}/revoke-sessions', { params: { path: { id } } }));
      return { said: `${email} logged out. ${endedText(ended)}` };
    },
  },
  resetPassword: {
    title: 'Reset password',
    question: ({ email }) => `Reset the password of ${email}?`,
    words:
      'Sets a random password that you see once, and logs the user out everywhere. An email notifies them. Their two-factor authentication does not change.',
    isOffered: () => true,
    run: async (client, { id }) => {
      const { password } = await answered(
        client.POST('/superadmin/users/{id}/reset-password', { params: { path: { id } } }),
      );
      return { password };
    },
  },
  resetMfa: {
    title: 'Reset 2FA',
    question: ({ email }) => `Reset two-factor authentication for ${email}?`,
    words:
      'The user logs in with only the password until they set up two-factor authentication again. Recovery codes stop working. Verify their identity first. An email notifies them.',
    isOffered: ({ mfa_enabled: has }) => has,
    run: async (client, { id, email }) => {
      await answered(client.POST('/superadmin/users/{id}/reset-mfa', { params: { path: { id } } }));
      return { said: `Two-factor authentication reset for ${email}.` };
    },
  },
  grant: {
    title: 'Make operator',
    question: ({ email }) => `Make ${email} an operator?`,
    words: 'Operators can do everything on this page: see and change all accounts and organizations, including yours.',
    isOffered: ({ is_superadmin: is }) => !is,
    run: (client, user) => setSuperadmin(client, user, true),
  },
  revokeSuperadmin: {
    title: 'Remove operator',
    question: ({ email }) => `Remove ${email} as operator?`,
    words: 'The user keeps their account and organizations, and loses access to this page.',
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
  return { said: superadmin ? `${email} is now an operator.` : `${email} is no longer an operator.` };
}

function endedText({ revoked, revoked_keys: keys }: Schemas['EndedSessions']): string {
  return `Ended: ${countText(revoked)} ${revoked === 1 ? 'session' : 'sessions'}, ${countText(keys)} ${keys === 1 ? 'key' : 'keys'}.`;
}
