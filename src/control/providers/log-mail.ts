/**
 * "Sends" mail to the server's log: for a server whose operator is its only user, and who has no mail server. Code and link stand alone
 * on their lines in a pretty log, and are fields of their own in JSON lines.
 */
import type { Logger } from '../../base/log.ts';
import type { MailTransport } from './mail.ts';
import { given } from '../../base/given.ts';

export function logMail(log: Logger): MailTransport {
  return {
    send: async ({ to, subject, code, link }) => {
      const keys = [code, link].filter((key) => key !== undefined);
      const told = `mail to ${to}: ${subject}`;
      log.info({ to, ...given({ code, link }) }, keys.length === 0 ? told : `${told}\n\n${keys.join('\n\n')}\n`);
    },
    close: () => {},
  };
}
