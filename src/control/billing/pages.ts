/**
 * What a person sees where a server without a payment provider would take money: that nothing was charged. Plain HTML without a script. The
 * addresses are relative, for the API is served under `/api` too; all pages here are one level deep.
 */
import { html } from 'hono/html';
import type { Completion } from './mock-billing.ts';
import { PLAN_NAMES } from '../core/rules/plans.ts';

type Part = ReturnType<typeof html>;

const NOTHING_CHARGED = 'This server has no payment provider: nothing was or will be charged.';

/** After a visit to the checkout. */
export function completionPage(completion: Completion): Part {
  if (completion.state === 'invalid') {
    return page(
      'This checkout is not valid',
      html`<p class="alert" role="alert">The URL is incomplete or more than an hour old, or its user is no longer an owner of the organization.</p>
<p>Nothing was changed. An owner can ask for a new one with <code>POST /billing/checkout-session</code>.</p>`,
    );
  }
  const { state, organization } = completion;
  const plan = PLAN_NAMES[completion.plan];
  return state === 'completed'
    ? page(
        `You are on ${plan}`,
        html`<p class="notice" role="status">${organization} is now on the ${plan} plan.</p>
<p>${NOTHING_CHARGED}</p>`,
      )
    : page(
        'This checkout was completed before',
        html`<p class="notice" role="status">This checkout already switched ${organization} to the ${plan} plan. No changes were made this time.</p>
<p>${NOTHING_CHARGED}</p>`,
      );
}

/** Where a payment provider would have its page for customers. It knows no user: a browser sends it no login. */
export function mockPortalPage(): Part {
  return page(
    'There is nothing to pay here',
    html`<p>${NOTHING_CHARGED} There are no invoices and no cards.</p>
<p>Owners change the plan of their organization with <code>POST /billing/checkout-session</code>, and go back to Free with <code>POST /billing/cancel</code>.</p>`,
  );
}

function page(title: string, body: Part): Part {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Culvert</title>
<link rel="stylesheet" href="../app/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<main>
<p class="brand">Culvert</p>
<h1>${title}</h1>
${body}
<a class="button" href="../app/">Go to your account</a>
</main>
</body>
</html>`;
}
