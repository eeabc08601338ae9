/**
 * What a person sees where a log-in with an identity provider ends badly: the browser was sent there, so JSON would be the last that they
 * see. Programs get JSON all the same (core/http/errors.ts).
 */
import { html } from 'hono/html';
import type { AppError } from '../../../base/errors.ts';

/** Both paths below /auth/oauth/ have the same depth; the addresses are relative, for the API is served under `/api` too. */
export function refusalPage({ code, message }: AppError) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not logged in - Culvert</title>
<link rel="stylesheet" href="../../../app/page.css">
<link rel="icon" href="data:,">
</head>
<body>
<main>
<p class="brand">Culvert</p>
<h1>You are not logged in</h1>
<p class="alert" role="alert">${message}</p>
<p class="quiet">${code}</p>
<a class="button" href="../../../app/">Back to login</a>
</main>
</body>
</html>`;
}
