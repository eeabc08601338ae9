/** The page at `/app/reset?token=`, to which the mail about a forgotten password leads. Its script: scripts/reset-script.ts. */
import { MESSAGES, type PageFacts, pageDocument } from './document.ts';
import { forgotten } from './ways-in.ts';

export function resetPage(facts: PageFacts): string {
  const complete = (facts.query('token') ?? '') !== '';
  return pageDocument({ title: 'New password', script: 'reset.js', complete, body: BODY }, facts);
}

const SIGN_IN = '<a class="link" href="./">Sign in instead</a>';

const BODY = `${MESSAGES}
<form id="reset" method="post" data-part hidden>
<h1>Set a new password</h1>
<label for="new-password">New password</label>
<input id="new-password" name="new-password" type="password" autocomplete="new-password" required aria-describedby="new-password-rule">
<p class="quiet" id="new-password-rule">12 characters or more, whatever they are.</p>
<label for="again">The same again</label>
<input id="again" name="again" type="password" autocomplete="new-password" required>
<button type="submit" class="main">Set the password</button>
</form>

${forgotten('h1', 'Ask for a new link', SIGN_IN)}

<section id="done" tabindex="-1" data-part hidden>
<h1>Your password is changed</h1>
<p>You are logged out everywhere, and so are your command lines: run <code>culvert login</code> there again. Keys made for machines go on working.</p>
<a class="button main" href="./">Sign in</a>
</section>`;
