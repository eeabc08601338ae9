/**
 * "Sends" mail to the server's log: for a server whose operator is its only user, and who has no mail server. The code or link stands alone
 * on its line for whoever reads a pretty log, and is a field of its own for whoever filters JSON lines.
 */
import type { Logger } from '../../base/log.ts';
import type { MailTransport } from './mail.ts';

export function logMail(log: Logger): MailTransport {
  return {
    send: async ({ to, subject, code, link }) => {
      const key = code ?? link;
      const told = `mail to ${to}: ${subject}`;
      log.info(
        { to, ...(code === undefined ? {} : { code }), ...(link === undefined ? {} : { link }) },
        key === undefined ? told : `${told}\n\n${key}\n`,
      );
    },
    close: () => {},
  };
}
