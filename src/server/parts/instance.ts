/** Settings file → what operators may set in the dashboard beside it, and which options follow. Called by control-plane.ts. */
import {
  INSTANCE_KEYS,
  INSTANCE_SECRETS,
  type InstancePart,
  readInstance,
  setSecrets,
  shownOf,
} from '../../config/instance.ts';
import type { Settings } from '../../config/schema.ts';
import { readSmtpUrl } from '../../config/smtp-url.ts';
import type { InstanceSettings, InstanceSource, MailSettings } from '../../control/core/instance.ts';

/** What holds, and what may be changed. */
export function instanceSource(settings: Settings): InstanceSource {
  return {
    fields: INSTANCE_KEYS.map((key) => ({
      key,
      isSecret: INSTANCE_SECRETS.has(key),
      inFile: settings.written.has(key),
    })),
    read: (values) => {
      const { part, wrong } = readInstance(settings, values);
      return { settings: settingsOf(settings, part), shown: shownOf(part), secrets: setSecrets(part), wrong };
    },
  };
}

function settingsOf(file: Settings, part: InstancePart): InstanceSettings {
  return {
    name: part.server.name,
    signup: part.accounts.signup,
    newOrg: { plan: part.plans.default, approval: part.accounts.require_approval ? 'pending' : 'approved' },
    oauth: { google: googleOptions(file, part), github: githubOptions(file, part) },
    mail: mailOptions(part),
  };
}

function mailOptions({ mail }: InstancePart): MailSettings {
  if (mail.transport === 'log') return { transport: 'log' };
  const server = mail.smtp_url === null ? undefined : readSmtpUrl(mail.smtp_url.reveal());
  // Both were checked; a wrong answer here would lose mail silently.
  if (server === undefined || mail.from === null)
    throw new Error('mail.transport = "smtp" without mail.smtp_url or mail.from');
  return { transport: 'smtp', ...server, from: mail.from };
}

/** Null unless it is set up; half of it is refused when the settings are read. */
function googleOptions(file: Settings, { oauth }: InstancePart): InstanceSettings['oauth']['google'] {
  const { client_id: clientId, client_secret: clientSecret, issuer } = oauth.google;
  if (clientId === null || clientSecret === null) return null;
  return { clientId, clientSecret, issuer, isPublic: isTyped(file, 'oauth.google.issuer') };
}

function githubOptions(file: Settings, { oauth }: InstancePart): InstanceSettings['oauth']['github'] {
  const { client_id: clientId, client_secret: clientSecret, ...urls } = oauth.github;
  if (clientId === null || clientSecret === null) return null;
  return {
    clientId,
    clientSecret,
    authorizeUrl: urls.authorize_url,
    tokenUrl: urls.token_url,
    apiUrl: urls.api_url,
    isPublic: (['authorize_url', 'token_url', 'api_url'] as const).some((key) => isTyped(file, `oauth.github.${key}`)),
  };
}

/** An address that is not the file's own must not become a way into the network of the server. */
function isTyped({ edge, written }: Settings, key: string): boolean {
  return !edge.allow_private_jwks && !written.has(key);
}
