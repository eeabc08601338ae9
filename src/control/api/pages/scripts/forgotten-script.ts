/** `forgotten.js`, for pages with the part `forgotten` of ways-in.ts: asks for a mail with a link to set a new password. */
export const FORGOTTEN_SCRIPT = String.raw`import { call } from './calls.js';
import { at, onSubmit, say, show } from './parts.js';

export function askForLink() {
  onSubmit('forgot', async () => {
    const email = at('forgot-email').value;
    const { status, body } = await call('POST', 'auth/forgot', { email });
    if (status !== 202) return say(body.message);
    at('sent-to').textContent = email;
    show('sent');
  });
}
`;
