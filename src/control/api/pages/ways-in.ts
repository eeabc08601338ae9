/**
 * The parts of a page by which a person comes in: password, second factor, identity provider, a new account, a forgotten password. Brought
 * to life by scripts/sign-in-script.ts and what it imports. One part is shown at a time.
 */

const ADDRESS = 'data-email type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required';
const CODE =
  'type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="64"';
const NEW_PASSWORD = 'type="password" autocomplete="new-password" required';

const BACK = '<button type="button" class="link" data-to="sign-in">Back to sign-in</button>';

/** `heading`: an h1 where nothing else on the page says what to do. */
export function waysIn(heading: 'h1' | 'h2', title: string): string {
  const head = (text: string): string => `<${heading}>${text}</${heading}>`;
  return `<form id="sign-in" method="post" data-part hidden>
${head(title)}
<label for="email">E-mail address</label>
<input id="email" name="email" data-email type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="320">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
<button type="submit" class="main">Sign in</button>
<div id="providers" hidden></div>
<button type="button" id="make-account" data-to="sign-up" hidden>Make an account</button>
<button type="button" class="link" data-to="forgot">Forgot password</button>
</form>

<form id="second" method="post" data-part hidden>
${head('Second factor')}
<label for="code" id="code-label">Code of your authenticator app</label>
<input id="code" name="code" inputmode="numeric" ${CODE}>
<button type="submit" class="main">Go on</button>
<button type="button" class="link" id="other-factor">Use a recovery code</button>
${BACK}
</form>

<form id="sign-up" method="post" data-part hidden>
${head('Make an account')}
<label for="new-email">E-mail address</label>
<input id="new-email" name="email" ${ADDRESS} maxlength="254">
<label for="new-password">Password</label>
<input id="new-password" name="password" ${NEW_PASSWORD} aria-describedby="new-password-rule">
<p class="quiet" id="new-password-rule">12 characters or more, whatever they are.</p>
<button type="submit" class="main">Go on</button>
${BACK}
</form>

<form id="confirm" method="post" data-part hidden>
${head('Confirm your address')}
<p>Type the code of six digits from the mail to <strong id="confirm-email"></strong>. It works for 10 minutes.</p>
<label for="mail-code">Code from the mail</label>
<input id="mail-code" name="code" inputmode="numeric" ${CODE}>
<button type="submit" class="main">Confirm</button>
<button type="button" id="resend">Send a new code</button>
${BACK}
<p class="quiet">If the mail tells you to do something else, do that.</p>
</form>

${forgotten(heading, 'Forgot password', BACK)}`;
}

/** The form that asks for a link to set a new password, and what is shown then; `back`: trusted HTML that leads away from it. */
export function forgotten(heading: 'h1' | 'h2', title: string, back: string): string {
  return `<form id="forgot" method="post" data-part hidden>
<${heading}>${title}</${heading}>
<p>You get a mail with a link to set a new password.</p>
<label for="forgot-email">E-mail address</label>
<input id="forgot-email" name="email" ${ADDRESS} maxlength="320">
<button type="submit" class="main">Send the link</button>
${back}
</form>

<section id="sent" tabindex="-1" data-part hidden>
<${heading}>Look into your mail</${heading}>
<p>If <strong id="sent-to"></strong> has an account here, a link is on its way. It works once, for an hour.</p>
${back}
</section>`;
}
