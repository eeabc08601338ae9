/**
 * How each letter reads: subject, plain text and HTML, from one list of parts. Names that people chose are hostile here: they can't add
 * lines, headers or markup. The HTML loads nothing from anywhere.
 */
import type { Mail } from '../providers/mail.ts';
import type { Letter } from './letters.ts';

type Part =
  | { readonly kind: 'say'; readonly text: string }
  /** Stands alone on its line. */
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'link'; readonly url: string; readonly label: string };

interface Draft {
  readonly subject: string;
  readonly parts: readonly Part[];
}

export interface Sending {
  /** What the mail is known by; the same at each try. */
  readonly id: string;
  /** Where the dashboard is: links start with `{publicUrl}/app/`. */
  readonly publicUrl: string;
  /** How long the code or link of the letter works. */
  readonly lifeSeconds: number;
}

const say = (text: string): Part => ({ kind: 'say', text });

/** The letter as a mail. */
export function writeLetter(letter: Letter, { id, publicUrl, lifeSeconds }: Sending): Mail {
  const { subject, parts } = draft(letter, publicUrl, spanOf(lifeSeconds));
  const all = [say('Hello,'), ...parts, say(`This mail comes from the Culvert server at ${publicUrl}.`)];
  const code = all.find((part) => part.kind === 'code')?.code;
  const link = all.find((part) => part.kind === 'link')?.url;
  return {
    id,
    to: letter.to,
    subject,
    text: `${all.map(asText).join('\n\n')}\n`,
    html: asPage(subject, all),
    ...(code === undefined ? {} : { code }),
    ...(link === undefined ? {} : { link }),
  };
}

function draft(letter: Letter, publicUrl: string, span: string): Draft {
  const logIn = `${publicUrl}/app/`;
  const notYou =
    `If it was not you, somebody else can use your account: choose "Forgot password" at ${logIn} now, ` +
    'and tell whoever runs this server.';
  switch (letter.kind) {
    case 'verify_email':
      return {
        subject: `${letter.code} is your Culvert code`,
        parts: [
          say('Enter this code to confirm that this address is yours:'),
          { kind: 'code', code: letter.code },
          say(`It works once, for ${span}. If you asked for more than one code, only the newest works.`),
          say('If you did not sign up, ignore this mail: without the code nobody can use the account.'),
        ],
      };
    case 'already_registered':
      return {
        subject: 'You have a Culvert account already',
        parts: [
          say('Somebody signed up with this address, and there is an account for it already. Nothing was changed.'),
          say(`If it was you, log in at ${logIn}. If you don't know the password, choose "Forgot password" there.`),
          say('If it was not you, there is nothing to do.'),
        ],
      };
    case 'password_reset':
      return {
        subject: 'Set a new password for Culvert',
        parts: [
          say('Open this link to set a new password:'),
          { kind: 'link', url: linkTo(publicUrl, 'reset', letter.token), label: 'Set a new password' },
          say(`It works once, for ${span}. A new password logs you out everywhere.`),
          say('If you did not ask for this, ignore this mail: your password stays as it is.'),
        ],
      };
    case 'password_changed':
      return {
        subject: 'Your Culvert password was changed',
        parts: [
          say('The password of your account was changed just now. If it was you, there is nothing to do.'),
          say(notYou),
        ],
      };
    case 'mfa_changed': {
      const state = letter.enabled ? 'on' : 'off';
      return {
        subject: `Two-factor log-in is ${state} for your Culvert account`,
        parts: [
          say(`Two-factor log-in was turned ${state} for your account. If it was you, there is nothing to do.`),
          say(notYou),
        ],
      };
    }
    case 'recovery_code_used': {
      const left = letter.left === 1 ? 'One code is' : `${letter.left} codes are`;
      return {
        subject: 'A recovery code was used for your Culvert account',
        parts: [
          say(`Somebody logged in to your account with a recovery code just now. ${left} left.`),
          say(`If it was you: make new codes at ${logIn} before you run out of them.`),
          say(notYou),
        ],
      };
    }
    case 'identity_linked': {
      const provider = plain(letter.provider);
      return {
        subject: `You can log in to Culvert with ${provider} now`,
        parts: [
          say(`Log-in with ${provider} was added to your account. If it was you, there is nothing to do.`),
          say(notYou),
        ],
      };
    }
    case 'invitation': {
      const organization = plain(letter.organization);
      const inviter = plain(letter.inviter);
      return {
        subject: `${inviter} invites you to "${organization}" on Culvert`,
        parts: [
          say(`${inviter} invites you to the organization "${organization}", with the role "${plain(letter.role)}".`),
          say('Open this link to accept:'),
          { kind: 'link', url: linkTo(publicUrl, 'invite', letter.token), label: 'Accept the invitation' },
          say(`It works once, for ${span}.`),
          say('If you do not know who this is, ignore this mail: nothing happens then.'),
        ],
      };
    }
  }
}

function linkTo(publicUrl: string, page: 'reset' | 'invite', token: string): string {
  return `${publicUrl}/app/${page}?token=${encodeURIComponent(token)}`;
}

const MAX_NAME = 64;

/**
 * A name that somebody chose, as part of one line: no line breaks, no control characters, none that turn the direction of writing. Without
 * "://", which mail programs make links of.
 */
function plain(name: string): string {
  const line = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('://', ' ')
    .trim();
  const signs = [...line];
  return signs.length <= MAX_NAME ? line : `${signs.slice(0, MAX_NAME).join('')}…`;
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

function asText(part: Part): string {
  if (part.kind === 'say') return part.text;
  return part.kind === 'code' ? part.code : part.url;
}

const PAGE_STYLE = 'font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;max-width:36em;margin:24px auto;padding:0 16px';
const CODE_STYLE = 'font:700 28px/1.5 ui-monospace,monospace;letter-spacing:4px';
const LINK_STYLE = 'font-size:13px;color:#555;word-break:break-all';

function asPage(subject: string, parts: readonly Part[]): string {
  const head = `<meta charset="utf-8"><title>${escapeHtml(subject)}</title>`;
  return `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body style="${PAGE_STYLE}">\n${parts.map(asHtml).join('\n')}\n</body></html>\n`;
}

function asHtml(part: Part): string {
  if (part.kind === 'say') return `<p>${escapeHtml(part.text)}</p>`;
  if (part.kind === 'code') return `<p style="${CODE_STYLE}">${escapeHtml(part.code)}</p>`;
  const url = escapeHtml(part.url);
  return `<p><a href="${url}">${escapeHtml(part.label)}</a></p>\n<p style="${LINK_STYLE}">${url}</p>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
