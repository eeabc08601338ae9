/** The settings of the server that are set by clicking: how each is called, and what is sent. Pure: tested without a browser. */
import type { Schemas } from '../../../api/types.ts';

export type Instance = Schemas['Instance'];
export type Setting = Instance['settings'][number];
export type Value = string | boolean;
export type Changes = Record<string, Value | null>;

export interface Field {
  /** As in the settings file. */
  readonly key: string;
  readonly label: string;
  readonly help?: string;
  readonly kind: 'text' | 'secret' | 'switch' | 'choice';
  readonly choices?: ReadonlyArray<{ readonly value: string; readonly label: string }>;
  readonly placeholder?: string;
}

export interface Group {
  readonly name: 'server' | 'accounts' | 'mail' | 'google' | 'github';
  readonly title: string;
  readonly about: string;
  readonly fields: readonly Field[];
}

export const NAME_FIELD: Field = {
  key: 'server.name',
  label: 'Name',
  kind: 'text',
  placeholder: 'Culvert',
  help: 'On the login page and in the dashboard.',
};

export const SIGN_UP_FIELD: Field = {
  key: 'accounts.signup',
  label: 'Sign-up',
  kind: 'choice',
  choices: [
    { value: 'open', label: 'Open: anyone can create an account' },
    { value: 'closed', label: 'Closed: operators create accounts' },
  ],
};

export const GROUPS: readonly Group[] = [
  { name: 'server', title: 'Server', about: 'How users recognize this server.', fields: [NAME_FIELD] },
  {
    name: 'accounts',
    title: 'Accounts',
    about: 'New accounts and their organizations.',
    fields: [
      SIGN_UP_FIELD,
      {
        key: 'accounts.require_approval',
        label: 'Require approval',
        kind: 'switch',
        help: 'An operator approves each new organization before it can open tunnels.',
      },
      {
        key: 'plans.default',
        label: 'Plan of new organizations',
        kind: 'choice',
        choices: ['free', 'pro', 'team', 'enterprise'].map((plan) => ({
          value: plan,
          label: plan.slice(0, 1).toUpperCase() + plan.slice(1),
        })),
      },
    ],
  },
  {
    name: 'mail',
    title: 'Mail',
    about: 'Codes for new accounts, links for new passwords, and invitations.',
    fields: [
      {
        key: 'mail.transport',
        label: 'Delivery',
        kind: 'choice',
        choices: [
          { value: 'log', label: "Off: write codes and links to the server's log" },
          { value: 'smtp', label: 'Send by SMTP' },
        ],
      },
      {
        key: 'mail.smtp_url',
        label: 'SMTP URL',
        kind: 'secret',
        placeholder: 'smtp://user:password@mail.example.com:587',
        help: 'smtp:// uses STARTTLS, smtps:// uses TLS from the start.',
      },
      { key: 'mail.from', label: 'Sender', kind: 'text', placeholder: 'Culvert <culvert@example.com>' },
    ],
  },
  {
    name: 'google',
    title: 'Google or OpenID Connect',
    about: 'Login with Google, Keycloak, Authentik, Okta or another OpenID Connect issuer.',
    fields: [
      { key: 'oauth.google.issuer', label: 'Issuer', kind: 'text', placeholder: 'https://accounts.google.com' },
      { key: 'oauth.google.client_id', label: 'Client ID', kind: 'text' },
      { key: 'oauth.google.client_secret', label: 'Client secret', kind: 'secret' },
    ],
  },
  {
    name: 'github',
    title: 'GitHub',
    about: 'Login with GitHub. The URLs are those of github.com unless you have a GitHub Enterprise server.',
    fields: [
      { key: 'oauth.github.client_id', label: 'Client ID', kind: 'text' },
      { key: 'oauth.github.client_secret', label: 'Client secret', kind: 'secret' },
      { key: 'oauth.github.authorize_url', label: 'Authorize URL', kind: 'text' },
      { key: 'oauth.github.token_url', label: 'Token URL', kind: 'text' },
      { key: 'oauth.github.api_url', label: 'API URL', kind: 'text' },
    ],
  },
];

/** What the fields of a group begin with: a secret is empty, whatever it is. */
export function valuesOf(fields: readonly Field[], settings: ReadonlyMap<string, Setting>): Record<string, Value> {
  return Object.fromEntries(
    fields.map(({ key, kind }) => {
      const value = kind === 'secret' ? null : settings.get(key)?.value;
      return [key, value ?? (kind === 'switch' ? false : '')];
    }),
  );
}

/** The fields that differ from what they began with. An emptied text goes back to its default. */
export function changesOf(before: Readonly<Record<string, Value>>, now: Readonly<Record<string, Value>>): Changes {
  return Object.fromEntries(
    Object.entries(now).flatMap(([key, value]) =>
      value === before[key] ? [] : [[key, value === '' ? null : value] as const],
    ),
  );
}

/** Why a field can't be changed; undefined: it can. */
export function lockText({ key, locked_by: by }: Setting): string | undefined {
  if (by === null) return undefined;
  return by === key
    ? `Set in the settings file (${key}). Change it there and restart the server.`
    : `Kept by ${by} in the settings file. Change it there and restart the server.`;
}

/** What stands under a secret. */
export function secretText({ is_set: isSet, value }: Setting): string {
  if (!isSet) return 'Not set.';
  return typeof value === 'string'
    ? `Set: ${value}. Enter it again to change it.`
    : 'Set. Enter it again to change it.';
}

export function byKey({ settings }: Instance): ReadonlyMap<string, Setting> {
  return new Map(settings.map((setting) => [setting.key, setting]));
}
