/**
 * Emails of the server. A service posts an Email (outbox.ts); how it reads as text and HTML is in email-text.ts.
 */
export type Email = { readonly to: string } & (
  | { readonly kind: 'verify_email'; readonly code: string }
  /** Several people may have signed up with the address: the code proves it, and the link, which works for so long, sets a password. */
  | { readonly kind: 'verify_contested'; readonly code: string; readonly token: string; readonly linkSeconds: number }
  /** A sign-up used an address that has an account. */
  | { readonly kind: 'already_registered' }
  | { readonly kind: 'password_reset'; readonly token: string }
  | { readonly kind: 'password_changed' }
  /** An operator tests the mail server. */
  | { readonly kind: 'test' }
  | { readonly kind: 'mfa_changed'; readonly enabled: boolean }
  /** A login passed the first factor, and its wrong codes paused the second one. */
  | { readonly kind: 'mfa_locked' }
  /** A login used a recovery code; so many are left. */
  | { readonly kind: 'recovery_code_used'; readonly left: number }
  | { readonly kind: 'identity_linked'; readonly provider: string }
  /** Another owner has deleted an organization of theirs. */
  | { readonly kind: 'organization_deleted'; readonly organization: string; readonly by: string }
  /** The record that showed a custom domain to be theirs has been gone for days. */
  | {
      readonly kind: 'domain_lost';
      readonly organization: string;
      readonly domain: string;
      readonly record: string;
    }
  /** What an alert rule found. `channelId`: of the rule. */
  | {
      readonly kind: 'alert';
      readonly channelId: string;
      readonly organization: string;
      readonly subject: string;
      readonly lines: readonly string[];
      readonly link: string;
    }
  /** A member wants to send alerts to this address. */
  | { readonly kind: 'alert_confirm'; readonly token: string; readonly organization: string; readonly by: string }
  | {
      readonly kind: 'invitation';
      readonly token: string;
      readonly organization: string;
      readonly inviter: string;
      readonly role: string;
    }
);
