/** Texts about shared requests, for the sharing member and the reader. */

/** The server finds credentials by their names only. */
export const MASKED =
  'Headers, query parameters and fields with the usual names of credentials are masked, and so are addresses of visitors.';
