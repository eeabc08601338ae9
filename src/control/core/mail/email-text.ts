/**
 * Texts of each email: subject, plain text and HTML, from one list of parts. Names that people chose are hostile here: they can't add
 * lines, headers or markup. The HTML loads nothing from anywhere.
 */
import type { Mail } from '../../providers/mail.ts';
import { asPage, asText, type Part, plain, plainLine, say } from './email-parts.ts';
import type { Email } from './emails.ts';
import { given } from '../../../base/given.ts';

interface Draft {
  readonly subject: string;
  readonly parts: readonly Part[];
}

export interface Sending {
  /** What the mail is known by; the same at each try. */
  readonly id: string;
  /** Where the dashboard is: links start with `{publicUrl}/app/`. */
  readonly publicUrl: string;
  /** How long the code or link of the email works. */
  readonly lifeSeconds: number;
}

/** The email, written out. */
export function writeEmail(email: Email, { id, publicUrl, lifeSeconds }: Sending): Mail {
  const { subject, parts } = draft(email, {
    publicUrl,
    logIn: `${publicUrl}/app/`,
    span: spanOf(lifeSeconds),
  });
  const all = [say('Hello,'), ...parts, say(`This email was sent by the Culvert server at ${publicUrl}.`)];
  const code = all.find((part) => part.kind === 'code')?.code;
  const link = all.find((part) => part.kind === 'link')?.url;
  return {
    id,
    to: email.to,
    subject,
    text: asText(all),
    html: asPage(subject, all),
    ...given({ code, link }),
  };
}

/** What a draft may need besides its email. */
interface Words {
  readonly publicUrl: string;
  /** Where one logs in. */
  readonly logIn: string;
  /** How long the code or link works. */
  readonly span: string;
}

function draft(email: Email, words: Words): Draft {
  switch (email.kind) {
    case 'verify_email':
      return verifyEmail(email, words);
    case 'verify_contested':
      return verifyContested(email, words);
    case 'already_registered':
      return alreadyRegistered(words);
    case 'password_reset':
      return passwordReset(email, words);
    case 'invitation':
      return invitation(email, words);
    case 'mfa_locked':
      return mfaLocked(words);
    case 'test':
      return test();
    case 'organization_deleted':
      return organizationDeleted(email);
    case 'domain_lost':
      return domainLost(email);
    case 'alert':
      return alert(email);
    case 'alert_confirm':
      return alertConfirm(email, words);
    default:
      return withWarning(change(email), words);
  }
}

type Of<Kind extends Email['kind']> = Extract<Email, { kind: Kind }>;

function verifyEmail({ code }: Of<'verify_email'>, { span }: Words): Draft {
  return {
    subject: `${code} is your Culvert code`,
    parts: [
      say('Enter this code to confirm that this address is yours:'),
      { kind: 'code', code },
      say(`It works once, for ${span}. If you requested several codes, only the newest one works.`),
      say('If you did not sign up, ignore this email: the account stays locked without the code.'),
    ],
  };
}

function verifyContested(email: Of<'verify_contested'>, { publicUrl, span }: Words): Draft {
  return {
    subject: `${email.code} is your Culvert code: choose a new password`,
    parts: [
      say('Several sign-ups with this address used different passwords. None of these passwords is valid.'),
      say('If you signed up, open this link to confirm the address and choose a password:'),
      { kind: 'link', url: linkTo(publicUrl, 'reset', email.token), label: 'Choose a password' },
      say(`It works once, for ${spanOf(email.linkSeconds)}. This code only confirms the address:`),
      { kind: 'code', code: email.code },
      say(`It works once, for ${span}; you still need a link like the one above to log in with a password.`),
      say('If you did not sign up, ignore this email: the account stays locked without the link or the code.'),
    ],
  };
}

function alreadyRegistered({ logIn }: Words): Draft {
  return {
    subject: 'You already have a Culvert account',
    parts: [
      say(
        'You or another person tried to sign up with this address. It already has an account, so no changes were made.',
      ),
      say(`If it was you, log in at ${logIn}. If you don't know the password, choose "Forgot password" there.`),
      say("If it was not you, you don't need to do anything."),
    ],
  };
}

function passwordReset({ token }: Of<'password_reset'>, { publicUrl, span }: Words): Draft {
  return {
    subject: 'Set a new password for Culvert',
    parts: [
      say('Open this link to set a new password:'),
      { kind: 'link', url: linkTo(publicUrl, 'reset', token), label: 'Set a new password' },
      say(`It works once, for ${span}. A new password logs you out everywhere.`),
      say('If you did not request this, ignore this email: your password stays the same.'),
    ],
  };
}

function invitation(email: Of<'invitation'>, { publicUrl, span }: Words): Draft {
  const organization = plain(email.organization);
  const inviter = plain(email.inviter);
  return {
    subject: `${inviter} invites you to "${organization}" on Culvert`,
    parts: [
      say(`${inviter} invites you to the organization "${organization}", with the role "${plain(email.role)}".`),
      say('Open this link to accept:'),
      { kind: 'link', url: linkTo(publicUrl, 'invite', email.token), label: 'Accept the invitation' },
      say(`It works once, for ${span}.`),
      say('If you do not know this person, ignore this email. Nothing will change.'),
    ],
  };
}

function test(): Draft {
  return {
    subject: 'Test email from your Culvert server',
    parts: [say('An operator of this Culvert server sent this email to test its mail settings. They work.')],
  };
}

function organizationDeleted(email: Of<'organization_deleted'>): Draft {
  const organization = plain(email.organization);
  return {
    subject: `The organization "${organization}" was deleted on Culvert`,
    parts: [
      say(`${plain(email.by)} deleted the organization "${organization}", of which you are also an owner.`),
      say('Its tunnels are offline, and its access keys and invitations no longer work.'),
      say('If you did not expect this, ask them, or the operator of this server.'),
    ],
  };
}

function domainLost({ domain, record, organization }: Of<'domain_lost'>): Draft {
  return {
    subject: `${domain} is no longer verified on Culvert`,
    parts: [
      say(`The TXT record ${record} has been missing or wrong for three days.`),
      say(`So ${domain} no longer leads to a tunnel of your organization "${plain(organization)}".`),
      say('To restore it, add the TXT record again, verify the domain and bind it to its tunnel.'),
      say('If you did not expect this, ask the person who manages the DNS of the domain.'),
    ],
  };
}

function alert({ organization, subject, lines, link }: Of<'alert'>): Draft {
  return {
    subject: `${plain(organization)}: ${plainLine(subject)}`,
    parts: [
      say(`${plainLine(subject)}.`),
      ...lines.map((line) => say(plainLine(line))),
      { kind: 'link', url: link, label: 'Open the dashboard' },
      say(
        `You get this email because an alert rule of the organization "${plain(organization)}" sends to this address.`,
      ),
    ],
  };
}

function alertConfirm(email: Of<'alert_confirm'>, { publicUrl, span }: Words): Draft {
  const organization = plain(email.organization);
  return {
    subject: 'Confirm this address for alerts',
    parts: [
      say(`${plain(email.by)} wants to send alerts of the organization "${organization}" to this address.`),
      say('Open this link to confirm:'),
      { kind: 'link', url: linkTo(publicUrl, 'confirm-alerts', email.token), label: 'Confirm this address' },
      say(`It works for ${span}.`),
      say('If you do not know this person, ignore this email. Without the confirmation, no alerts are sent here.'),
    ],
  };
}

function mfaLocked({ logIn }: Words): Draft {
  return {
    subject: 'Wrong two-factor codes for your Culvert account',
    parts: [
      say('A login to your account passed the first step, but wrong two-factor codes were entered.'),
      say(
        'The login failed. Codes from your authenticator app are blocked for a few minutes, and for longer after more wrong codes.',
      ),
      say('If it was you, use a recovery code, or wait.'),
      say(
        `If it was not you, another person knows your password: choose "Forgot password" at ${logIn} now. If you log in with an identity provider, change your password there too.`,
      ),
    ],
  };
}

type Change = Of<'password_changed' | 'mfa_changed' | 'recovery_code_used' | 'identity_linked'>;

/** Changes of the account, for its owner. */
function change(email: Change): { readonly subject: string; readonly told: string } {
  switch (email.kind) {
    case 'password_changed':
      return {
        subject: 'Your Culvert password was changed',
        told: 'The password of your account was just changed.',
      };
    case 'mfa_changed': {
      const state = email.enabled ? 'on' : 'off';
      return {
        subject: `Two-factor authentication is ${state} for your Culvert account`,
        told: `Two-factor authentication was just turned ${state} for your account.`,
      };
    }
    case 'recovery_code_used': {
      const left = email.left === 1 ? '1 is' : `${email.left} are`;
      const renew = 'Turning two-factor authentication off and on again creates ten new ones.';
      return {
        subject: 'A recovery code was used for your Culvert account',
        told: `A recovery code was just used to log in to your account; ${left} left. ${renew}`,
      };
    }
    default: {
      const provider = plain(email.provider);
      return {
        subject: `You can now log in to Culvert with ${provider}`,
        told: `Login with ${provider} was just added to your account.`,
      };
    }
  }
}

function withWarning({ subject, told }: ReturnType<typeof change>, { logIn }: Words): Draft {
  const act = `choose "Forgot password" at ${logIn} now, and tell the operator of this server.`;
  return {
    subject,
    parts: [
      say(`${told} If it was you, you don't need to do anything.`),
      say(`If it was not you, another person can use your account: ${act}`),
    ],
  };
}

/** Where a mail leads. `publicUrl`: of the API, without a slash at its end. */
export function linkTo(publicUrl: string, page: 'reset' | 'invite' | 'confirm-alerts', token: string): string {
  return `${publicUrl}/app/${page}?token=${encodeURIComponent(token)}`;
}

const UNITS = [
  { name: 'day', seconds: 24 * 3600 },
  { name: 'hour', seconds: 3600 },
  { name: 'minute', seconds: 60 },
] as const;

/** In the largest unit of which it holds a whole number, e.g. "10 minutes". */
function spanOf(seconds: number): string {
  const unit = UNITS.find((one) => seconds >= one.seconds && seconds % one.seconds === 0) ?? UNITS[2];
  const n = Math.max(1, Math.floor(seconds / unit.seconds));
  return `${n} ${unit.name}${n === 1 ? '' : 's'}`;
}
