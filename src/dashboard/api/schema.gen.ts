/** Made by `npm run api:generate` out of the OpenAPI document: never edited. */
export interface paths {
    "/.well-known/culvert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the address that agents connect to */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Address and fingerprint */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Discovery"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/culvert-revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List revoked tokens that have not expired
         * @description Includes tokens whose master key was revoked. For an edge that checks the wire form of tokens with the public keys alone. A token is to be refused from `from` on when its nonce is listed, or the nonce of its parent. A nonce may be listed twice: the earlier `from` counts. Send `If-None-Match` with the last ETag: 304 says that nothing was revoked since.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Up to some seconds old; its ETag is one of what is revoked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Revocations"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the public keys of the server */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Public keys */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Jwks"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/cli/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Authorize a command line for the active organization */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeviceApproval"];
                };
            };
            responses: {
                /** @description Approved. The waiting command line fetches the same by itself */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeviceKey"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/cli/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke the key of a command line
         * @description Its agents are disconnected.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeviceLogout"];
                };
            };
            responses: {
                /** @description The key is over */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeviceLogoutResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/cli/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the key of an authorized command line
         * @description The key is returned once, within 10 minutes of the authorization.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DevicePickup"];
                };
            };
            responses: {
                /** @description The key. It is handed over once */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeviceResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a link to set a new password
         * @description Always 202, whether or not the address has an account. The link is valid for an hour and one use. An address gets a few emails at once and then a few per hour: what is beyond that is not sent.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ForgotPassword"];
                };
            };
            responses: {
                /** @description If the address has an account, a link is on its way */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ForgotPasswordResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the identities that log in to your account */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Identities, oldest first */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Identity"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink an identity
         * @description The last login method of an account stays.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It logs in no more */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UnlinkResult"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log in and set the refresh cookie */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Credentials"];
                };
            };
            responses: {
                /** @description Logged in; or a second factor is asked for, and no cookie is set */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginResult"] | components["schemas"]["MfaRequired"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login/mfa": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a login with the second factor
         * @description Sets the refresh cookie.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MfaLogin"];
                };
            };
            responses: {
                /** @description Logged in */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the session
         * @description With a bearer of one session and the cookie of another of the same person, both end.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The session is over */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LogoutResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your account and the limits of its plan */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The account */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Account"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change your name */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeAccount"];
                };
            };
            responses: {
                /** @description The account */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Account"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/auth/mfa": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the state of your second factor */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The second factor */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MfaStatus"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/mfa/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn off the second factor
         * @description Needs the password or a recovery code.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MfaDisable"];
                };
            };
            responses: {
                /** @description The second factor is off */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MfaDisabled"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/mfa/enroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a secret for an authenticator app
         * @description Nothing is stored until you confirm the secret, within 10 minutes.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The secret */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MfaEnrollment"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/mfa/enroll/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn on the second factor with a code
         * @description Other sessions continue.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MfaConfirmation"];
                };
            };
            responses: {
                /** @description The second factor is on */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecoveryCodes"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/mfa/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace your recovery codes
         * @description Returns ten new codes. Earlier codes stop working.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RecoveryCodesRenewal"];
                };
            };
            responses: {
                /** @description The new codes */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecoveryCodes"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Finish a login with an identity provider */
        get: {
            parameters: {
                query: {
                    /** @description Missing when the provider refused */
                    code?: string;
                    /** @description Why the provider refused */
                    error?: string;
                    state: string;
                };
                header?: never;
                path: {
                    /** @description `google` is whichever OpenID Connect issuer the operator has chosen */
                    provider: "google" | "github";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/{provider}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Send the browser to an identity provider */
        get: {
            parameters: {
                query?: {
                    /** @description A path of this server, where the browser goes in the end; anything else counts as `/` */
                    return_to?: string;
                };
                header?: never;
                path: {
                    /** @description `google` is whichever OpenID Connect issuer the operator has chosen */
                    provider: "google" | "github";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        /**
         * Start a login with an identity provider
         * @description As GET, for a page that sends the browser there by itself: what it comes back to, with what is secret in it, then stands in no address.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description `google` is whichever OpenID Connect issuer the operator has chosen */
                    provider: "google" | "github";
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["StartLogin"];
                };
            };
            responses: {
                /** @description Where to send the browser; sets a cookie of ten minutes */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["StartedLogin"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your password
         * @description Ends your other sessions and the keys of their command lines. 401 also for a wrong current password. 409 for an account without one, which sets it with `POST /auth/forgot`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangePassword"];
                };
            };
            responses: {
                /** @description Changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangePasswordResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the login methods of this server */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Identity providers, and whether sign-up is open */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WaysIn"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the refresh cookie for an access token
         * @description A cookie works once: of many requests with the same one, exactly one succeeds.
         *
         *     A cookie that comes back after it was swapped is taken for stolen: 401, and the session is over. Two kinds of request are answered 401 with
         *     `retry_after_seconds` instead, and leave the session alone: send them again, without logging in, for the browser has the new cookie by then.
         *     One overlaps the request that swaps the cookie (the answer waits until the cookie has not come for 100 ms). The other comes from a browser's
         *     page of this origin (`Sec-Fetch-Site: same-origin`) within 5 seconds of the swap, as long as the new cookie has not been used.
         *
         *     Over https a login also sets the cookie `__Host-qnt_bind`. A browser's request (one with `Origin` or `Sec-Fetch-Site`) needs both cookies:
         *     a refresh cookie without its companion is ignored, as if it were not there. Other clients may send `qnt_refresh` alone.
         *
         *     Of several refresh cookies the only live one counts; two live ones are 401, and both sessions stay. After a 401 without
         *     `retry_after_seconds`, both cookies are cleared.
         *
         *     A browser's request from a page of another origin is refused, unless `api.cors_origins` lists it.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Refreshed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RefreshResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/resend-verify-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a new code to an unverified address
         * @description Always 200. The code before it is void. An address gets a few emails at once and then a few per hour: what is beyond that is not sent, and leaves the last code as it is.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EmailAddress"];
                };
            };
            responses: {
                /** @description If the address waits for a code, one is on its way */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with the token of a link
         * @description Ends all sessions of the user and all keys of their command lines. The address counts as verified from then on. A second factor stays on. A token that is wrong, was used, has run out, or was asked for before the password changed is `invalid_code`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ResetPassword"];
                };
            };
            responses: {
                /** @description Changed: log in */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangePasswordResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your sessions, latest use first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Live sessions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionList"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * End all your other sessions
         * @description The keys of their command lines end too.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Ended */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RevokedSessions"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of your sessions
         * @description The key of its command line ends too.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Ended */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RevokedSessions"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an account
         * @description The answer is the same whether or not the address has an account: one that has gets an email that says so. Signing up again with an address that is not verified yet replaces name and code. Done with another password, it leaves the account with none, for a code must not confirm a password that another user typed: the email then holds a link to choose one. 403 when the operator has closed sign-up.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SignUp"];
                };
            };
            responses: {
                /** @description The email is on its way */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SignUpResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/switch-org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch to another organization of yours
         * @description Access tokens that were made before go on acting for the organization that they were made for.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SwitchOrg"];
                };
            };
            responses: {
                /** @description Switched */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SwitchedOrg"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify-email-otp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an email address with a code
         * @description The code is valid for 10 minutes and 5 attempts, and the last one sent is the only one. Every failure is the same `invalid_code`: wrong, run out, tried too often, verified before, no such account.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["VerifyEmail"];
                };
            };
            responses: {
                /** @description Verified: log in */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["VerifyEmailResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the plan and its price */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Plan and subscription */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Billing"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Return to the Free plan
         * @description Only where no payment provider is used.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {string} */
                            plan: "free";
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/checkout-session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start the purchase of a plan */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            /** @description What is bought */
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Checkout"];
                };
            };
            responses: {
                /** @description Where an owner completes the purchase */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** Format: uri */
                            checkout_url: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/mock-checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a checkout where plans are free
         * @description Its token works once, for an hour.
         */
        get: {
            parameters: {
                query: {
                    token: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/mock-portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show that there is nothing to pay */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open the portal to change or cancel a plan */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Where an owner does it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** Format: uri */
                            portal_url: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive signed events of the payment provider
         * @description 402 on a server without a payment provider.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    "stripe-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            /** @description An event */
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                        type: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Dealt with, now or before; or of no concern here */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            received: true;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List connected agents */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Connections */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Connection"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Disconnect an agent
         * @description The agent reconnects in about 5 seconds unless its token was revoked. A reason may be given in the body or in the query; that of the body counts.
         */
        delete: {
            parameters: {
                query?: {
                    /** @description Sent to the agent and recorded in the audit log */
                    reason?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            /** @description Why */
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Disconnect"];
                };
            };
            responses: {
                /** @description Ended */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections/ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the last sessions that ended, newest first
         * @description At most 100, for 30 days. Sessions that a crash of the server ended are not among them.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Ended sessions */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndedConnection"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List custom domains, newest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Domains */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Domain"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Add a custom domain, to be verified by a TXT record
         * @description At most 100. Put `dnsRecord` into the DNS, then verify. Several organizations may add a domain; the first to verify it has it.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewDomain"];
                };
            };
            responses: {
                /** @description Added */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Domain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a custom domain
         * @description A verified domain has a cooldown of 24 hours.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/bind": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Bind a verified domain to a tunnel
         * @description Applies from the next request on.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DomainBinding"];
                };
            };
            responses: {
                /** @description Bound */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Domain"];
                    };
                };
            };
        };
        post?: never;
        /**
         * Unbind a domain from its tunnel
         * @description The domain stays verified.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Unbound */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Domain"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a domain by its TXT record
         * @description `invalid_request`: the record is missing or says something else; the message says what. A verified domain is looked up again each day, and is unverified and unbound once its record has been gone for three days.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Verified */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Domain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/edge-auth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Finish the login of a visitor
         * @description To be registered at the provider as `{api.public_url}/edge-auth/callback`. Only an address that the provider has verified counts; case does not.
         */
        get: {
            parameters: {
                query: {
                    /** @description Missing when the provider refused */
                    code?: string;
                    /** @description Why the provider refused */
                    error?: string;
                    state: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/edge-auth/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Send a visitor to the identity provider
         * @description The edge sends browsers here that it does not know. Errors are a page to a browser. All of `/edge-auth/` has a limit per source address of its own: 300 requests at once, then 5 per second.
         */
        get: {
            parameters: {
                query: {
                    /** @description The browser came back without that cookie before */
                    again?: string;
                    /** @description SHA-256, base64url, of a cookie of the tunnel's host, which the edge has set. Without it the browser is sent round once more, to get one */
                    nonce?: string;
                    /** @description `select_account`: the provider asks which account, also where one is signed in */
                    prompt?: string;
                    /** @description Where the browser goes in the end: an address of the tunnel, custom domains included, or a path of it, of at most 512 characters. Anything else counts as `/` */
                    return_to?: string;
                    tunnel_id: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the audit log of the organization, newest first */
        get: {
            parameters: {
                query?: {
                    /** @description One of those of AuditEvent; an unknown one finds nothing */
                    action?: string;
                    /** @description E-mail address or token name */
                    actor?: string;
                    /** @description Id of an event: the page of those before it */
                    before?: string;
                    limit?: number;
                    /** @description Events at or after this instant, RFC 3339; or a date */
                    start_time?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditEvent"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the health of the server
         * @description Always 200 while the process runs. The checks are at most 5 seconds old.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Up; `degraded` when a check is not `ok` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List recorded requests, newest first
         * @description A request that was answered before the call is there. Filters by method, status and path must look at each record: when that takes too long the answer has what was found until then, fewer than `limit` or none, and `Link` goes on from there.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Older than this record: its id, from the page before */
                    before?: string;
                    limit?: number;
                    /** @description As it stands here, or in capitals: `get` finds GET too */
                    method?: string;
                    /** @description `refused`: what the edge did not pass on; `failed`: what got no whole answer */
                    outcome?: "forwarded" | "refused" | "failed";
                    /** @description Stands somewhere in the path or query; case does not count */
                    path?: string;
                    /** @description Replays of this record */
                    replay_of?: string;
                    since?: string;
                    /** @description A status, a class of them, or 0: the visitor got nothing */
                    status?: string;
                    /** @description Only of this tunnel */
                    tunnel_id?: string;
                    /** @description Before this time */
                    until?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Requests */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InspectedRequest"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Delete the recorded requests of a tunnel */
        delete: {
            parameters: {
                query: {
                    tunnel_id: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Forgotten */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a recorded request with bodies and decisions */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The request */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InspectedRequestDetail"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/{id}/curl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a recorded request as a curl command
         * @description Asks the public address again, through the tunnel's policy and gates. What the edge adds for the service is left out. Values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***`, for exports are passed on; `secrets=true` leaves them as they are, for members and up.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Leaves credentials and cookies unmasked; 403 for a viewer */
                    secrets?: "true" | "false";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description One command */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/{id}/har": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a recorded request as HAR
         * @description Values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***`, for exports are passed on; `secrets=true` leaves them as they are, for members and up. An answer with a content coding is opened up to 1 MB; what holds more stands there as it came. Bodies that are no text, or longer than 256 KB, are in base64.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Leaves credentials and cookies unmasked; 403 for a viewer */
                    secrets?: "true" | "false";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description HAR 1.2 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HttpArchive"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a recorded request
         * @description To the service behind the tunnel, by the agent that serves it now and through the policy that the tunnel has now; the password and the sign-in of its visitors are not asked for. It goes as it was recorded, with the address of its visitor, or changed by the body of this call. The service can tell by the header `Culvert-Replay`, which holds the id of the record; visitors can't send it. It counts and is paid for as any other request. The answer comes once the service's is complete, or after 60 seconds with 504 and `local_timeout`. Redirects are not followed.
         *
         *     Off unless the operator has switched it on (501; `inspector.replay`; for some tunnels alone: `inspector.replay_allow`). 409 `conflict`: a request that the edge refused, or that asked for a WebSocket, can't be sent again. 409 `body_truncated`: of its body only a part is there; give the whole one. Per organization 8 at a time, 60 at once and then one per second. 503 `unavailable`: too many are under way on this server, or to this tunnel; nothing was sent.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["ReplayEdits"];
                };
            };
            responses: {
                /** @description It was sent, and this is how it was answered */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Replayed"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/har": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the newest recorded requests as HAR
         * @description For the import of browsers and other tools; oldest first, of those that the filters of `GET /inspector` leave. A parameter that there is not is refused. Values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***`, for exports are passed on; `secrets=true` leaves them as they are, for members and up. It holds 16 MB as it is written; of more the oldest requests are left out, and `log.comment` says how many. Answers with a content coding are opened
         *     up to 1 MB each; what holds more, or can't be opened, stands there as it came. Bodies that are no text, or longer than 256 KB, are in base64. One archive at a
         *     time of an organization and of a person (429 `rate_limited`) and 4 in all (503 `unavailable`): try again after `Retry-After`. Who has not read it within a minute is cut off.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Older than this record: its id, from the page before */
                    before?: string;
                    limit?: number;
                    /** @description As it stands here, or in capitals: `get` finds GET too */
                    method?: string;
                    /** @description `refused`: what the edge did not pass on; `failed`: what got no whole answer */
                    outcome?: "forwarded" | "refused" | "failed";
                    /** @description Stands somewhere in the path or query; case does not count */
                    path?: string;
                    /** @description Replays of this record */
                    replay_of?: string;
                    /** @description Leaves credentials and cookies unmasked; 403 for a viewer */
                    secrets?: "true" | "false";
                    since?: string;
                    /** @description A status, a class of them, or 0: the visitor got nothing */
                    status?: string;
                    /** @description Only of this tunnel */
                    tunnel_id?: string;
                    /** @description Before this time */
                    until?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description HAR 1.2 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HttpArchive"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/recording": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get what is recorded, and what can be replayed */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What is recorded */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Recording"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/unrecorded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count requests that were not recorded, by tunnel
         * @description Recording never slows a visitor: what comes faster than the server records, or finds no memory or disk, is left out and counted by the minute. Not counted is what is not to be recorded: tunnels whose agent says `--no-inspect`, and all on a server with `inspector.enabled = false` (`GET /inspector/recording`). Without `since`, of the last 24 hours.
         */
        get: {
            parameters: {
                query?: {
                    since?: string;
                    /** @description Only of this tunnel */
                    tunnel_id?: string;
                    until?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Counts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UnrecordedRequests"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspector/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream recorded requests by WebSocket
         * @description The access token comes as a protocol, for a browser can send no other field: `new WebSocket(url, ['culvert.inspector', 'bearer.' + token])`.
         *     The answer selects `culvert.inspector`; offer it, for browsers close a connection for which nothing they offered was selected (who offers the token
         *     alone gets it back). A page of another origin must be in `api.cors_origins`.
         *
         *     Ends with code 4401 within a minute once the session is over (an access token that runs out meanwhile changes nothing), with 4408 when over 1 MB
         *     waits for a reader that does not take it, without a code when 64 MB wait for all readers and most of it for this one, and with 1001 when the server stops. At most 20 per person and 1,000 in all; at most 2,000 messages a second
         *     for an organization and 10,000 in all: what is more is left out here, and is in `GET /inspector`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Only of this tunnel */
                    tunnel_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List security events of your account, newest first */
        get: {
            parameters: {
                query?: {
                    /** @description Id of an event: the page of those before it */
                    before?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditEvent"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get current counts and the traffic of 24 hours
         * @description Bytes of the last 24 hours are those of both; datagrams are no requests.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Counters */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MetricsCounters"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List metrics keys, oldest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Keys */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MetricKey"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a metrics key
         * @description The bearer of `GET /metrics/prometheus` and of nothing else. It lives until it is deleted, or its creator leaves the organization. At most 50.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMetricKey"];
                };
            };
            responses: {
                /** @description Made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MadeMetricKey"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a metrics key
         * @description It stops working at once.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/prometheus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics of the organization for Prometheus
         * @description Takes an access token, which is good for 15 minutes, or a key of `POST /metrics/keys`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Text exposition */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get traffic by time, oldest first
         * @description Periods without traffic are 0. Buckets: 1h of 1 min, 24h of 15 min, 7d of 1 h, 30d of 6 h. The last one is the present and not over yet.
         */
        get: {
            parameters: {
                query: {
                    metric: "requests" | "bytes_in" | "bytes_out";
                    window?: "1h" | "24h" | "7d" | "30d";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Buckets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MetricsPoint"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get this document */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OpenAPI 3.1 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your organizations, oldest membership first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Organizations */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create an organization and become its owner
         * @description At most 20 per owner, and 40 made in a day. It waits for approval where another of yours was suspended. To act for it, switch to it with `POST /auth/switch-org`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OrganizationName"];
                };
            };
            responses: {
                /** @description Made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one of your organizations
         * @description Any that you are in, whichever is the active one; all routes below `/orgs/{id}` take it so.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The organization */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete an organization
         * @description Only owners may. Ends its tokens, tunnels and invitations, and cuts its agents off. Who was acting for it goes on in another organization of theirs after the next `POST /auth/refresh`. 409 when it is your only one, or goes on paying for a plan; 503 when the payment provider can't say.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted, with what went with it */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeletedOrganization"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Rename an organization
         * @description Its slug stays.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OrganizationName"];
                };
            };
            responses: {
                /** @description The organization */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/orgs/{id}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List open invitations, newest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Invitations, without their tokens */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Invitation"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Invite a user by email
         * @description Up to your own role. The email holds a link to `/app/invite?token=`, which works once, for 7 days, and for the account with this address alone. An earlier invitation to it ends. 403 until the organization is approved; 409 for a member, and when 100 are open; 429 after 200 of yours in a day, in whatever organization, or a few to the same address.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
            responses: {
                /** @description The email is on its way */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Invitation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{id}/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an invitation */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    invitation_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Revoked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RevokedInvitation"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{id}/invitations/{invitation_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an invitation again, with a new link
         * @description For members who may invite to its role. The links sent before end, and the new one works for 7 days. It is in the answer too, to be handed over where emails do not arrive. Counts as an invitation among the 200 of yours in a day and the few to the same address: 429 beyond them.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    invitation_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The email is on its way */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResentInvitation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List members, oldest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Members */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Member"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/{id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member, or leave
         * @description Every member may leave, by their own id. The tokens that the person made here are revoked, with what those minted, and their agents cut off; invitations that the person made are revoked; tunnels stay with the organization. 403 while the organization is suspended, but for members other than owners who leave; 409 for the last owner.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Removed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RemovedMember"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change the role of a member
         * @description Admins change roles up to admin; only owners change owners or make one. Counts from the next request of the member on; invitations of theirs that the new role does not allow are revoked, and so are tokens that they made here when they become a viewer. 403 while the organization is suspended, 409 when no owner would be left.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeMember"];
                };
            };
            responses: {
                /** @description The member */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangedMember"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/orgs/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation by the token of its email
         * @description Takes the account that has the invited address: 403 for any other. A user who has none signs up with that address, confirms it, and then accepts; where sign-up is closed, an operator makes the account first. 404 for a token that was used or revoked, or has run out; 409 for a member. To act for the organization, switch to it with `POST /auth/switch-org`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AcceptInvitation"];
                };
            };
            responses: {
                /** @description The organization that you are in now, with your role */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orgs/invitations/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an invitation by the token of its email
         * @description For a page that asks whether to accept; it needs no account and uses nothing up. Whether the address has an account is not told. 404 for a token that was used or revoked, or has run out. Limited per address as `/auth/*` is, and counted by itself.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AcceptInvitation"];
                };
            };
            responses: {
                /** @description The invitation */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ShownInvitation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List private networks, oldest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Private networks */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PrivateNetwork"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a private network
         * @description At most 100, on every plan. Networks may overlap: each is by itself. Register its server next.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPrivateNetwork"];
                };
            };
            responses: {
                /** @description Made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PrivateNetwork"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a private network */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The network */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PrivateNetwork"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a private network with its devices
         * @description The organization keeps the UDP port for 24 hours.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change the name or client settings of a network
         * @description What is not given stays. Configs are made at each reading: hand new ones out.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PrivateNetworkChanges"];
                };
            };
            responses: {
                /** @description Changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PrivateNetwork"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/private-networks/{id}/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List devices of a private network, by address */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Devices */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NetworkDevice"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Enroll a device with the lowest free address
         * @description By its public key; the private one stays where it was made. A key that is enrolled already gets what it has, unchanged, with 200. At most 4,096 in a network, and 20,000 in all. The server's WireGuard must learn of it: read its config again.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewNetworkDevice"];
                };
            };
            responses: {
                /** @description It was enrolled before */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EnrolledDevice"];
                    };
                };
                /** @description Enrolled */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EnrolledDevice"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks/{id}/devices/{device_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a device
         * @description It is disconnected at once, and its address is free. At the relay. Take it out of the WireGuard of the server, too: read its config again.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    device_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Revoked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change the name, expiry or networks of a device
         * @description What is not given stays. One whose time has run out goes on with a new end.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    device_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NetworkDeviceChanges"];
                };
            };
            responses: {
                /** @description Changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NetworkDevice"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/private-networks/{id}/devices/{device_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the WireGuard config of a device
         * @description It is without the private key.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    device_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The config */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WireGuardClientConfig"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks/{id}/relay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the carrier and traffic of a private network
         * @description Counters are two seconds behind. Of a network that clients reach without this server there is nothing to tell.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Its relay */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NetworkRelay"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks/{id}/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Register the server of a network, or replace it
         * @description The network gets a UDP port of this server and keeps it: clients come there, and an agent beside the WireGuard of the machine (`culvert udp`) carries what they send. With a `public_endpoint` it gives the port up. Either can be changed to the other at any time. Its organization keeps a port that was given up for 24 hours. Where there are other organizations, one holds at most three quarters of the ports; beyond that, and when none is free, 409 `conflict`.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PrivateNetworkServer"];
                };
            };
            responses: {
                /** @description Registered */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PrivateNetwork"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/private-networks/{id}/server-config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the WireGuard config of the server of a network
         * @description It is without the private key. With one peer per device, but for those whose time has run out.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The config */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WireGuardServerConfig"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List projects: the default one, then the newest */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Projects */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Project"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a project
         * @description At most 200. Tunnels of other projects whose names end with the slug already keep them.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewProject"];
                };
            };
            responses: {
                /** @description Made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Project"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a project */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    slug: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The project */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Project"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a project with its tunnels and keys
         * @description Agents are cut off, names rest 24 hours. The default project stays: 400.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    slug: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DeletedProject"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /** Rename a project */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    slug: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ProjectName"];
                };
            };
            responses: {
                /** @description Renamed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Project"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/projects/{slug}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a key that opens tunnels in a project */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    slug: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewProjectToken"];
                };
            };
            responses: {
                /** @description The key, with its secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MintedToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{slug}/tokens/{nonce}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key of a project
         * @description Its agents are disconnected.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    nonce: string;
                    slug: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Revoked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /**
                             * @description How many ended: with a master key go the keys that it minted
                             * @example 1
                             */
                            revoked: number;
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{slug}/tokens/{nonce}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a key of a project
         * @description The old key works until the end of the grace period. With a grace both tokens work until it is over, each with the whole `tunnelQuota`; budget and bandwidth they share. The old one can be revoked meanwhile, not rotated; to revoke the new one does not end it. Two predecessors of a token may have their grace at one time.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    nonce: string;
                    slug: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewRotation"];
                };
            };
            responses: {
                /** @description The new key, with its secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MintedToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether the server can serve
         * @description 503 while the database, the keys or the data node fail. The checks are at most 5 seconds old.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Ready */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Readiness"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reserved-subdomains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List reserved subdomains, newest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Reserved subdomains */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReservedSubdomain"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Reserve a subdomain, with or without a tunnel
         * @description As many as the plan includes, and at most 1000. Names are one space for all organizations.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewReservedSubdomain"];
                };
            };
            responses: {
                /** @description Reserved */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReservedSubdomain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reserved-subdomains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Release a reserved subdomain
         * @description It has a cooldown of 24 hours. A tunnel that has the name goes on.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Given up */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List ACME certificates, by name */
        get: {
            parameters: {
                query?: {
                    /** @description Name of the last one of the page before */
                    after?: string;
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Certificates; none without `edge.tls.mode` "acme" */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedCertificate"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/certificates/{name}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a certificate now
         * @description The answer does not wait for it: ask the list. 409 while it is being asked for, and where certificates do not come by ACME; 404 for a name that leads to no live tunnel.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Asked for */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedCertificate"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/edge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get counts of accepted and refused traffic
         * @description Counts begin with the start of the server.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Counts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EdgeCounts"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log of all organizations, newest first
         * @description Includes deleted organizations.
         */
        get: {
            parameters: {
                query?: {
                    /** @description One of those of AuditEvent; an unknown one finds nothing */
                    action?: string;
                    /** @description E-mail address or token name */
                    actor?: string;
                    /** @description Id of an event: the page of those before it */
                    before?: string;
                    limit?: number;
                    /** @description Id or slug */
                    org?: string;
                    /** @description Events at or after this instant, RFC 3339; or a date */
                    start_time?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedAuditEvent"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get health checks with folders, numbers and next steps */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description As `/health` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/keys/{purpose}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate a signing key
         * @description Earlier signatures stay valid.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    purpose: "access" | "capability";
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Id of the new key */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @example 9f86d081884c7d65 */
                            kid: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics of the server for Prometheus
         * @description No label is of a tunnel, an organization or a visitor. A scraper, which has no access token, asks the listener of `metrics.listen`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Text exposition */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/orgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List organizations of this server, oldest first */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last one of the page before */
                    after?: string;
                    /** @description Those that are deleted instead */
                    deleted?: "true" | "false";
                    limit?: number;
                    /** @description Part of a name, an address or a slug */
                    query?: string;
                    status?: "approved" | "pending" | "suspended";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Organizations */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedOrganization"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/orgs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change the plan of an organization */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or slug */
                    id: string;
                };
                cookie?: never;
            };
            /** @description What changes */
            requestBody: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        plan?: "free" | "pro" | "team" | "enterprise";
                    };
                };
            };
            responses: {
                /** @description The organization */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedOrganization"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/superadmin/orgs/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow an organization to open tunnels and create tokens */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or slug */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The organization */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedOrganization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/orgs/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Suspend an organization and disconnect its agents */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or slug */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The organization */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OperatedOrganization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List users of this server, oldest first */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last one of the page before */
                    after?: string;
                    limit?: number;
                    /** @description Part of a name, an address or a slug */
                    query?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Accounts */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a verified user with an organization
         * @description The password is random.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            /** @description The account */
            requestBody: {
                content: {
                    "application/json": {
                        /** @example ann@example.com */
                        email: string;
                        /**
                         * @default
                         * @example Ann
                         */
                        name?: string;
                        /** @default false */
                        superadmin?: boolean;
                    };
                };
            };
            responses: {
                /** @description Made. The password is shown only now. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserWithPassword"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a user
         * @description The last superadmin stays one.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            /** @description What changes */
            requestBody: {
                content: {
                    "application/json": {
                        /** @example Ann */
                        name?: string;
                        superadmin?: boolean;
                    };
                };
            };
            responses: {
                /** @description The account */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/superadmin/users/{id}/lock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lock a user out of their account
         * @description Ends all sessions of the user and all keys that they created.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Locked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndedSessions"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users/{id}/reset-mfa": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove the second factor of a user */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description False when there was none */
                            reset: boolean;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users/{id}/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set a random password and end all sessions */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done. The password is shown only now. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserWithPassword"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users/{id}/revoke-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End all sessions of a user, command lines too
         * @description Access keys for machines keep working.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndedSessions"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/superadmin/users/{id}/unlock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unlock an account
         * @description Sessions and keys that the lock ended stay ended.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id or e-mail address */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description False when it was not locked */
                            unlocked: boolean;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens, newest first
         * @description Lists all live tokens, and those that ended last.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Tokens, without secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Token"][];
                    };
                };
            };
        };
        put?: never;
        /** Create a token for an agent */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
            responses: {
                /** @description The token, with its secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MintedToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{nonce}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token and the keys that it created
         * @description Their agents are disconnected.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    nonce: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Revoked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /**
                             * @description How many ended: with a master key go the keys that it minted
                             * @example 1
                             */
                            revoked: number;
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{nonce}/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the monthly budget of a token
         * @description 0 blocks the token at once, null removes the budget. Months are UTC. All that rotation made of the token share the cap. The cap of a master key holds for all that it minted together; to stop a master key cap that, for it can always mint another key.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    nonce: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewBudget"];
                };
            };
            responses: {
                /** @description The cap that holds now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @example 500 */
                            monthlyBudgetUsdCents: number | null;
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{nonce}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a token with one of the same scopes
         * @description Keys that a master key created end with the old one. With a grace both tokens work until it is over, each with the whole `tunnelQuota`; budget and bandwidth they share. The old one can be revoked meanwhile, not rotated; to revoke the new one does not end it. Two predecessors of a token may have their grace at one time.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    nonce: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewRotation"];
                };
            };
            responses: {
                /** @description The new token, with its secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MintedToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/master": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a master key
         * @description It creates keys for projects and opens no tunnels.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMasterKey"];
                };
            };
            responses: {
                /** @description The key, with its secrets */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MintedToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tunnels, newest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Tunnels */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tunnel"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Reserve a tunnel for an agent to serve
         * @description A name is 409 while another tunnel has it, another organization keeps it or let it go within 24 hours, or it ends with the slug of another project of the organization. At most 1,000 at once, and 5,000 made in a day, those that agents open included. A `tcp` tunnel gets a public port, and its organization keeps that for 24 hours after the tunnel is deleted. Where there are other organizations, one holds at most three quarters of the ports; beyond that, and when none is free, 409 `conflict`. One that ran out and was neither started nor served for 30 days is deleted, except on Enterprise: a name is kept by `POST /reserved-subdomains`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewTunnel"];
                };
            };
            responses: {
                /** @description Made, inactive */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tunnel"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a tunnel */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The tunnel */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tunnel"] & {
                            /** @description User name of the password gate; null: there is none */
                            authUsername: string | null;
                            certificate: components["schemas"]["CertificateState"];
                            /** @description Message to visitors in maintenance; null: the edge's own words, or no maintenance */
                            maintenanceMessage: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a tunnel
         * @description Its name has a cooldown of 24 hours.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Require a user name and password from visitors
         * @description Applies from the next request on. HTTP Basic (RFC 7617), asked behind the tunnel's policy. The password is kept as an argon2id hash. The header `Authorization` is then between the visitor and the edge, and is not passed on; a visitor can show only one, so no request passes both this and an enforced `jwt_validation`. An address that has shown ten different wrong passwords within a minute is 429 for the rest of it. A `tcp` tunnel is refused.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["BasicGate"];
                };
            };
            responses: {
                /** @description Visitors are asked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            authEnabled: boolean;
                            id: string;
                        };
                    };
                };
            };
        };
        post?: never;
        /** Remove the password of a tunnel */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Visitors are not asked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            authEnabled: boolean;
                            id: string;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/edge-auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the visitor login of a tunnel */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Both lists are empty where there is no gate */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            allowed_domains: string[];
                            allowed_emails: string[];
                            edgeAuthEnabled: boolean;
                            id: string;
                            /** @description Why no visitor can pass the gate, or could where there is none yet */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        /**
         * Require visitors to log in
         * @description Applies from the next request on. With the identity provider of `edge_auth.provider`, behind the tunnel's policy and password. A visitor is allowed if their verified email, or its exact domain, is on a list. Case does not count. The service gets the address as `Culvert-Visitor-Email`. Browsers are redirected to the login; other clients get 401. Each change requires a new login from every visitor. From Pro on; on a plan without it a gate that there is stays, and may only be removed. A `tcp` tunnel is refused. Without a provider on this server no visitor can pass: `warnings` says so, also before a gate is set.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["VisitorGate"];
                };
            };
            responses: {
                /** @description Visitors are asked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            allowed_domains: string[];
                            allowed_emails: string[];
                            edgeAuthEnabled: boolean;
                            id: string;
                            /** @description Why no visitor can pass the gate, or could where there is none yet */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Remove the visitor login of a tunnel */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Visitors are not asked */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            edgeAuthEnabled: false;
                            id: string;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Turn on maintenance mode for a tunnel
         * @description From the next request on; what is under way is finished. It is over with `DELETE`, when the agent of the tunnel disconnects, and when the server is started again.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["MaintenanceNotice"];
                };
            };
            responses: {
                /** @description In maintenance */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            /** @enum {boolean} */
                            maintenance: true;
                            message: string | null;
                        };
                    };
                };
            };
        };
        post?: never;
        /** Turn off maintenance mode for a tunnel */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Not in maintenance */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            /** @enum {boolean} */
                            maintenance: false;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the traffic policy of a tunnel */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The policy, or null; and what actions that are only tried would have refused */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description One entry for each action with `"enforce": false` that would refuse. Another policy begins at 0. */
                            dry_run: {
                                /** @description Place of the action in the policy, from 0. */
                                index: number;
                                kind: string;
                                /** Format: date-time */
                                last_at: string | null;
                                /** @description The last of them. A connection of a tcp tunnel has neither method nor path. */
                                sample: {
                                    client_ip: string;
                                    /** @description The code that the visitor would have got. */
                                    error: string;
                                    method: string | null;
                                    /** @description Without query, at most 200 characters. */
                                    path: string | null;
                                } | null;
                                /** @description Requests, or connections of a tcp tunnel, since the policy was put; up to a few seconds late. */
                                would_refuse: number;
                            }[];
                            id: string;
                            policy: components["schemas"]["TrafficPolicy"];
                        };
                    };
                };
            };
        };
        /**
         * Replace the traffic policy of a tunnel
         * @description Applies from the next request on. Asked in this order, whatever the order of the actions: `ip_deny`, `ip_allow`, `deny`, `jwt_validation`, `rate_limit`; a refused request uses up no rate. `deny` tests the path as it was sent and its normalized form, against `path_prefix` as it was written and its normalized form. A `jwt_validation` without `jwks_url` and without an https issuer in `allowed_issuers` allows access tokens of this server for the organization of the tunnel. A header that is set replaces what the visitor, or the service, says.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrafficPolicy"];
                };
            };
            responses: {
                /** @description The policy as it is now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            policy: components["schemas"]["TrafficPolicy"];
                            /** @description Parts that no visitor can pass, and what to write instead */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Remove the traffic policy of a tunnel */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It has none now */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            policy: components["schemas"]["TrafficPolicy"];
                            /** @description Parts that no visitor can pass, and what to write instead */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/policy/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a policy on recorded requests of a tunnel
         * @description Changes nothing. Every user who may see the requests may run it. The policy need not be the tunnel's. It is asked by the very steps that visitors meet, with the times of the records: `rate_limit` counts the recorded requests in their windows (those that were not recorded are not counted), and a token is good if it was then. No keys are fetched. The password and the sign-in of visitors are not asked. Organizations take turns: a test waits up to ten seconds for its own. An organization has one under way and two in line, so that three can be sent at once and the next is 429; and it has ten in a row and then one every three seconds, as has a person over all of their organizations.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PolicyTest"];
                };
            };
            responses: {
                /** @description What it would have refused */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyTestResult"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a tunnel and its time to live
         * @description Also after the old one has run out. An agent that was cut off then has ended, and must be started again.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Started */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tunnel"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tunnels/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a tunnel and disconnect its agent
         * @description Agents are refused until the next start.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Stopped */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Tunnel"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-receivers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhook receivers, oldest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Receivers */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookReceiver"][];
                    };
                };
            };
        };
        put?: never;
        /**
         * Create a URL that receives signed webhooks
         * @description At most 50. Each keeps 10000 deliveries and 32 MiB, and all together 256 MiB, for as long as the plan keeps inspected requests; beyond that the oldest go.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewWebhookReceiver"];
                };
            };
            responses: {
                /** @description Made */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookReceiver"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-receivers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook receiver */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The receiver */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookReceiver"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Delete a webhook receiver and its deliveries */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deleted */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {boolean} */
                            success: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change a webhook receiver
         * @description A new validator or secret applies from the next delivery on.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["WebhookReceiverChanges"];
                };
            };
            responses: {
                /** @description Changed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookReceiver"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/webhook-receivers/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries after a cursor, oldest first
         * @description Ask with the id of the last delivery that you have as `after`, and none comes twice or is left out. With `wait` the request is held until one comes. With `order=newest` the latest come first, and `before` goes back from there. An answer with many large bodies holds fewer than `limit`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last delivery that you have; without it from the oldest on */
                    after?: string;
                    /** @description With `order=newest`: id of the oldest delivery that you have; without it from the newest on */
                    before?: string;
                    /** @description With `order=newest`: `true` leaves `headers` and `body` empty, for a list that is asked for often; one delivery has them. */
                    brief?: "true" | "false";
                    limit?: number;
                    /** @description `newest`: the latest deliveries, newest first, to look at; `after` and `wait` have no meaning then */
                    order?: "oldest" | "newest";
                    /** @description Seconds to hold the request while there is no delivery; it may be answered earlier */
                    wait?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Deliveries */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookDelivery"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-receivers/{id}/events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a delivery with its headers and body */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    event_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The delivery */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookDelivery"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-receivers/{id}/events/{event_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery to the tunnel again
         * @description It goes ahead of waiting deliveries.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    event_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is in front of the line */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookAccepted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{receiver_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver a webhook to a receiver */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    receiver_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Slack's check of the address */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookChallenge"];
                    };
                };
                /** @description Kept, now or before */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookAccepted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @example {
         *       "token": "q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ"
         *     }
         */
        AcceptInvitation: {
            token: string;
        };
        /**
         * @example {
         *       "user": {
         *         "id": "019aa3c2-5b6a-7f31-8c02-51d0a7b9e604",
         *         "email": "ann@example.com",
         *         "name": "Ann",
         *         "email_verified": true,
         *         "mfa_enabled": false,
         *         "created_at": "2026-11-21T09:00:00.000Z"
         *       },
         *       "active_org": {
         *         "id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01",
         *         "name": "Acme",
         *         "slug": "acme",
         *         "role": "owner",
         *         "approval_status": "approved"
         *       },
         *       "orgs": [
         *         {
         *           "id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01",
         *           "name": "Acme",
         *           "slug": "acme",
         *           "role": "owner"
         *         }
         *       ],
         *       "entitlements": {
         *         "plan": "pro",
         *         "max_tunnel_ttl_seconds": 86400,
         *         "reserved_subdomains": 5,
         *         "edge_auth": true,
         *         "master_keys": true,
         *         "inspector_retention_days": 30
         *       },
         *       "is_superadmin": false
         *     }
         */
        Account: {
            active_org: components["schemas"]["ActiveOrg"];
            entitlements: components["schemas"]["Entitlements"];
            is_superadmin: boolean;
            orgs: {
                /** Format: uuid */
                id: string;
                name: string;
                role: string;
                slug: string;
            }[];
            user: {
                /** Format: date-time */
                created_at: string;
                email: string;
                email_verified: boolean;
                /** Format: uuid */
                id: string;
                mfa_enabled: boolean;
                name: string;
            };
        };
        ActiveOrg: {
            /** @example approved */
            approval_status: string;
            /**
             * Format: uuid
             * @example 01939e5c-7f00-7a31-b0c4-0d2b9d4f6a10
             */
            id: string;
            /** @example Acme */
            name: string;
            /** @example owner */
            role: string;
            /** @example acme */
            slug: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "timestamp": "2026-11-21T09:30:00.000Z",
         *       "action": "member.update",
         *       "resourceType": "member",
         *       "resourceId": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "userEmail": "ann@example.com",
         *       "actorType": "user",
         *       "ipAddress": "203.0.113.7",
         *       "details": {
         *         "email": "bob@example.com",
         *         "from": "viewer",
         *         "to": "member"
         *       }
         *     }
         */
        AuditEvent: {
            /** @enum {string} */
            action: "auth.signup" | "auth.email_verify" | "auth.login" | "auth.login_failed" | "auth.logout" | "auth.refresh_reuse" | "auth.session_revoke" | "auth.switch_org" | "auth.password_forgot" | "auth.password_reset" | "auth.password_change" | "auth.mfa_enable" | "auth.mfa_disable" | "auth.mfa_recovery" | "auth.mfa_recovery_renew" | "auth.identity_link" | "auth.identity_unlink" | "auth.cli_authorize" | "auth.cli_logout" | "user.create" | "user.update" | "user.superadmin_grant" | "user.superadmin_revoke" | "user.lock" | "user.unlock" | "user.mfa_reset" | "user.password_reset" | "user.sessions_revoke" | "org.create" | "org.update" | "org.delete" | "org.plan" | "org.approve" | "org.suspend" | "member.update" | "member.remove" | "member.leave" | "invitation.create" | "invitation.resend" | "invitation.revoke" | "invitation.accept" | "tunnel.create" | "tunnel.start" | "tunnel.stop" | "tunnel.delete" | "tunnel.expire" | "tunnel.policy" | "tunnel.policy_remove" | "tunnel.auth" | "tunnel.auth_remove" | "tunnel.edge_auth" | "tunnel.edge_auth_remove" | "tunnel.maintenance" | "tunnel.maintenance_end" | "token.mint" | "token.rotate" | "token.revoke" | "token.budget" | "project.create" | "project.update" | "project.delete" | "reserved_subdomain.create" | "reserved_subdomain.delete" | "domain.create" | "domain.verify" | "domain.bind" | "domain.unbind" | "domain.lose" | "domain.delete" | "webhook_receiver.create" | "webhook_receiver.update" | "webhook_receiver.delete" | "webhook_receiver.redeliver" | "network.create" | "network.update" | "network.server" | "network.delete" | "network_device.enroll" | "network_device.update" | "network_device.revoke" | "network_device.expire" | "billing.checkout" | "billing.plan" | "billing.cancel" | "connection.disconnect" | "metric_key.create" | "metric_key.delete" | "inspector.clear" | "inspector.replay" | "key.rotate" | "certificate.renew";
            /** @enum {string} */
            actorType: "user" | "token" | "operator" | "system";
            /** @description What was changed, from what to what, where the action alone does not say it */
            details: {
                [key: string]: string | number | boolean | null;
            } | null;
            /** Format: uuid */
            id: string;
            /** @description Empty for changes by the server itself, and for operators of the server */
            ipAddress: string;
            /** @description Id of the thing; of a token its nonce */
            resourceId: string;
            resourceType: string;
            /** Format: date-time */
            timestamp: string;
            /** @description Who did it, as it was then: e-mail address, token name, `operator` or `system` */
            userEmail: string;
        };
        /**
         * @example {
         *       "username": "preview",
         *       "password": "correct horse battery staple"
         *     }
         */
        BasicGate: {
            password: string;
            username: string;
        };
        /**
         * @example {
         *       "mode": "stripe",
         *       "plan": "pro",
         *       "billing_cycle": "monthly",
         *       "status": "active",
         *       "current_period_end": "2026-12-21T09:00:00.000Z",
         *       "cancel_at_period_end": false,
         *       "entitlements": {
         *         "plan": "pro",
         *         "max_tunnel_ttl_seconds": 86400,
         *         "reserved_subdomains": 5,
         *         "edge_auth": true,
         *         "master_keys": true,
         *         "inspector_retention_days": 30
         *       }
         *     }
         */
        Billing: {
            /**
             * @description null without a subscription
             * @enum {string|null}
             */
            billing_cycle: "monthly" | "yearly" | null;
            cancel_at_period_end: boolean;
            /** Format: date-time */
            current_period_end: string | null;
            entitlements: components["schemas"]["Entitlements"];
            /**
             * @description `mock`: plans cost nothing; `stripe`: a payment provider takes money; `none`: operators alone change plans
             * @enum {string}
             */
            mode: "mock" | "stripe" | "none";
            /** @enum {string} */
            plan: "free" | "pro" | "team" | "enterprise";
            /** @description Of the subscription, as the payment provider names it */
            status: string | null;
        };
        /**
         * @description null unless certificates come by ACME
         * @example {
         *       "state": "valid",
         *       "expiresAt": "2027-02-19T09:00:00.000Z",
         *       "lastError": null,
         *       "nextAttemptAt": "2027-01-20T02:11:54.000Z"
         *     }
         */
        CertificateState: {
            /** Format: date-time */
            expiresAt: string | null;
            /** @description Why the last attempt failed; also of a renewal while the old one is valid */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When it is asked for, or renewed
             */
            nextAttemptAt: string | null;
            /**
             * @description `none`: not asked for yet, `pending`: asked for, `valid`, `failed`: none could be had, and it is asked for again at `nextAttemptAt`
             * @enum {string}
             */
            state: "none" | "pending" | "valid" | "failed";
        } | null;
        /**
         * @example {
         *       "name": "Ann"
         *     }
         */
        ChangeAccount: {
            name: string;
        };
        /**
         * @example {
         *       "user_id": "019aa3c2-5b6a-7f31-8c02-51d0a7b9e604",
         *       "email": "ann@example.com",
         *       "name": "Ann",
         *       "role": "viewer",
         *       "joined_at": "2026-11-21T09:00:00.000Z",
         *       "mfa_enabled": true,
         *       "revoked_tokens": 2
         *     }
         */
        ChangedMember: components["schemas"]["Member"] & {
            /** @description Tokens that the person had made here and may make no longer */
            revoked_tokens: number;
        };
        /**
         * @example {
         *       "role": "admin"
         *     }
         */
        ChangeMember: {
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        /**
         * @example {
         *       "current_password": "correct horse battery staple",
         *       "new_password": "seven green bottles sit"
         *     }
         */
        ChangePassword: {
            /** Format: password */
            current_password: string;
            /** Format: password */
            new_password: string;
        };
        ChangePasswordResult: {
            /** @enum {string} */
            status: "password_changed";
        };
        /**
         * @example {
         *       "plan": "pro",
         *       "billing_cycle": "monthly"
         *     }
         */
        Checkout: {
            /**
             * @default monthly
             * @enum {string}
             */
            billing_cycle: "monthly" | "yearly";
            /** @enum {string} */
            plan: "pro" | "team";
        };
        /**
         * @example {
         *       "agent_id": "0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33",
         *       "remote_ip": "198.51.100.20",
         *       "hostname": "laptop",
         *       "version": "0.1.0",
         *       "token_name": "ci",
         *       "connected_at": "2026-11-21T09:30:00.000Z",
         *       "tunnels": [
         *         "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10"
         *       ],
         *       "networks": []
         *     }
         */
        Connection: {
            /** Format: uuid */
            agent_id: string;
            /** Format: date-time */
            connected_at: string;
            /** @description As the agent calls its machine */
            hostname: string;
            /** @description Private networks whose datagrams it carries */
            networks: string[];
            remote_ip: string;
            /** @description What its key is called */
            token_name: string | null;
            tunnels: string[];
            /** @description Of the agent's program, as it says */
            version: string;
        };
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "password": "correct horse battery staple"
         *     }
         */
        Credentials: {
            email: string;
            /** Format: password */
            password: string;
        };
        /**
         * @example {
         *       "success": true,
         *       "revoked_tokens": 2,
         *       "deleted_tunnels": 1
         *     }
         */
        DeletedOrganization: {
            deleted_tunnels: number;
            revoked_tokens: number;
            /** @enum {boolean} */
            success: true;
        };
        /**
         * @example {
         *       "success": true,
         *       "deletedTunnels": 3,
         *       "revokedTokens": 1
         *     }
         */
        DeletedProject: {
            deletedTunnels: number;
            revokedTokens: number;
            /** @enum {boolean} */
            success: true;
        };
        DeviceApproval: {
            /**
             * @description 32 random bytes in base64url: 43 characters. Made by the command line.
             * @example Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE
             */
            device_code: string;
        };
        DeviceKey: {
            /**
             * @description The name of that token in `GET /tokens`
             * @example cli-banjo-acorn-flute
             */
            label: string;
            /**
             * @description Base64 of a token of kind `cli`, good for 90 days
             * @example 2D3ShEqiAScERGtleTGg…
             */
            wire_bytes_b64: string;
        };
        DeviceLogout: {
            /** @example 2D3ShEqiAScERGtleTGg… */
            wire_bytes_b64: string;
        };
        DeviceLogoutResult: {
            /**
             * @example logged_out
             * @enum {string}
             */
            status: "logged_out";
        };
        DevicePickup: {
            /**
             * @description 32 random bytes in base64url: 43 characters. Made by the command line.
             * @example Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE
             */
            device_code: string;
            /**
             * @description Also open a session of the approving person, for commands that act as a person
             * @default false
             * @example false
             */
            session: boolean;
            /**
             * @description Seconds to hold the request until a user approves; the response may come earlier
             * @default 0
             * @example 25
             */
            wait: number;
        };
        DeviceResult: components["schemas"]["DeviceKey"] & {
            /** @description With `session`: e-mail address of the approving person */
            account?: string;
            /**
             * Format: date-time
             * @description With `session`: when the token ends
             */
            expires_at?: string;
            /** @description With `session`: name of the organization */
            organization?: string;
            /** @description With `session`: the value of the refresh cookie */
            refresh_token?: string;
        };
        Disconnect: {
            /**
             * @description Sent to the agent and recorded in the audit log
             * @example moved to the new machine
             */
            reason?: string;
        };
        /**
         * @example {
         *       "version": "0.1.0",
         *       "agent_address": "culvert.example.com:7443",
         *       "edge_domain": "example.com",
         *       "server_id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a01"
         *     }
         */
        Discovery: {
            agent_address: string;
            /** @description sha256:<hex> of the SPKI; present when the certificate is self-signed */
            agent_fingerprint?: string;
            edge_domain: string;
            /**
             * Format: uuid
             * @description Made at the first start and kept by backups: tells this server from another one at its address
             */
            server_id: string;
            version: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13",
         *       "domain": "shop.example.com",
         *       "verified": false,
         *       "verificationToken": "q7Zk0m1xTn8cVb5RfW2yLs9dHgJ4uPaE",
         *       "boundTunnelId": null,
         *       "verifiedAt": null,
         *       "createdAt": "2026-11-21T09:00:00.000Z",
         *       "dnsRecord": {
         *         "type": "TXT",
         *         "name": "_tunnel-challenge.shop.example.com",
         *         "value": "q7Zk0m1xTn8cVb5RfW2yLs9dHgJ4uPaE"
         *       },
         *       "certificate": {
         *         "state": "none",
         *         "expiresAt": null,
         *         "lastError": null,
         *         "nextAttemptAt": null
         *       }
         *     }
         */
        Domain: {
            /** Format: uuid */
            boundTunnelId: string | null;
            certificate: components["schemas"]["CertificateState"];
            /** Format: date-time */
            createdAt: string;
            dnsRecord: {
                name: string;
                /** @enum {string} */
                type: "TXT";
                value: string;
            };
            /** @description In lower case; what is not ASCII as `xn--` */
            domain: string;
            /** Format: uuid */
            id: string;
            /** @description What the TXT record must say. No secret */
            verificationToken: string;
            verified: boolean;
            /** Format: date-time */
            verifiedAt: string | null;
        };
        /**
         * @example {
         *       "tunnel_id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10"
         *     }
         */
        DomainBinding: {
            /** Format: uuid */
            tunnel_id: string;
        };
        /**
         * @example {
         *       "since": "2026-11-21T09:30:00.000Z",
         *       "connections": {
         *         "open": 12,
         *         "http": 9,
         *         "tcp": 3,
         *         "addresses": 7,
         *         "admitted": 4031
         *       },
         *       "dropped": {
         *         "over_address": 512,
         *         "malformed": 0
         *       },
         *       "answered": {
         *         "tunnel_offline": 3,
         *         "bad_request": 0
         *       },
         *       "inspector": {
         *         "recorded": 980,
         *         "dropped": {
         *           "tunnel_rate": 17,
         *           "memory": 0
         *         },
         *         "waiting": 2,
         *         "held_bytes": 4096
         *       },
         *       "relays": {
         *         "attached": 2,
         *         "on_stream": 1,
         *         "flows": 19,
         *         "packets_in": 8001,
         *         "packets_out": 9001,
         *         "bytes_in": 80010,
         *         "bytes_out": 90010,
         *         "dropped": {
         *           "no_agent": 23,
         *           "queue_full": 0
         *         }
         *       }
         *     }
         */
        EdgeCounts: {
            /** @description Requests that the edge answered by itself, by the code of its `culvert-error` header; every code is there */
            answered: {
                [key: string]: number;
            };
            connections: {
                /** @description Addresses (IPv6: /64 networks) that they come from */
                addresses: number;
                /** @description Admitted since the start */
                admitted: number;
                /** @description Of these, with HTTP on them */
                http: number;
                /** @description Open now */
                open: number;
                /** @description Of these, to the public port of a tcp tunnel */
                tcp: number;
            };
            /** @description Connections of visitors that were refused or cut, by reason; every reason is there */
            dropped: {
                [key: string]: number;
            };
            inspector: {
                /** @description Requests that were not recorded, by reason; every reason is there */
                dropped: {
                    [key: string]: number;
                };
                /** @description Memory that records take until they are stored */
                held_bytes: number;
                /** @description Requests that were recorded */
                recorded: number;
                /** @description Records on their way into the file */
                waiting: number;
            };
            relays: {
                /** @description Private networks that agents carry now */
                attached: number;
                bytes_in: number;
                bytes_out: number;
                /** @description Datagrams that were dropped, by reason; every reason is there */
                dropped: {
                    [key: string]: number;
                };
                /** @description Addresses and ports that clients speak from now */
                flows: number;
                /** @description Of these, by the agent's session, because UDP does not get through to the server */
                on_stream: number;
                /** @description Datagrams of clients that were passed on */
                packets_in: number;
                /** @description Datagrams to clients that were passed on */
                packets_out: number;
            };
            /**
             * Format: date-time
             * @description When counting began: the start of the server
             */
            since: string;
        };
        /**
         * @example {
         *       "email": "ann@example.com"
         *     }
         */
        EmailAddress: {
            email: string;
        };
        /**
         * @example {
         *       "agent_id": "0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33",
         *       "remote_ip": "198.51.100.20",
         *       "hostname": "laptop",
         *       "connected_at": "2026-11-21T09:30:00.000Z",
         *       "ended_at": "2026-11-21T10:02:11.000Z",
         *       "reason": "disconnected",
         *       "message": "This session was ended by a member of its organization: moved to the new machine"
         *     }
         */
        EndedConnection: {
            /** Format: uuid */
            agent_id: string;
            /** Format: date-time */
            connected_at: string;
            /** Format: date-time */
            ended_at: string;
            /** @description As the agent calls its machine */
            hostname: string;
            /** @description For people */
            message: string;
            /**
             * @description `agent_left`: stopped in order; `connection_lost`: closed or broken without a word; `heartbeat_lost`: silent for 20 s; `disconnected`: by `DELETE /connections/{id}`; `token_revoked`, `token_expired`; `superseded`, `tunnel_deleted`, `tunnel_expired`: its last tunnel went to another agent, was deleted, ran out; `network_deleted`: the last private network that it carried; `drained`: the server was stopped; `forbidden`: the organization was suspended; `overloaded`: a bound of the server was reached; `protocol_error`, `internal`
             * @enum {string}
             */
            reason: "agent_left" | "connection_lost" | "heartbeat_lost" | "disconnected" | "token_revoked" | "token_expired" | "superseded" | "tunnel_deleted" | "tunnel_expired" | "network_deleted" | "drained" | "forbidden" | "overloaded" | "protocol_error" | "internal";
            remote_ip: string;
        };
        /**
         * @example {
         *       "revoked": 2,
         *       "revoked_keys": 1
         *     }
         */
        EndedSessions: {
            /** @description Sessions that ended */
            revoked: number;
            /** @description Keys that ended */
            revoked_keys: number;
        };
        /**
         * @example {
         *       "device": {
         *         "id": "019aa3c2-5b7c-7b08-8e15-4d6f2a9c1e30",
         *         "name": "laptop",
         *         "assigned_ip": "10.80.0.2",
         *         "public_key": "8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=",
         *         "expires_at": null,
         *         "expired": false,
         *         "extra_allowed_ips": [],
         *         "created_at": "2026-11-21T09:00:00.000Z",
         *         "last_handshake_at": "2026-11-21T09:04:00.000Z",
         *         "last_seen_at": "2026-11-21T09:05:00.000Z",
         *         "endpoint": "198.51.100.7:40213",
         *         "bytes_in": 18204,
         *         "bytes_out": 92311
         *       },
         *       "network_cidr": "10.80.0.0/24"
         *     }
         */
        EnrolledDevice: {
            device: components["schemas"]["NetworkDevice"];
            network_cidr: string;
        };
        Entitlements: {
            edge_auth: boolean;
            inspector_retention_days: number;
            master_keys: boolean;
            /** @description null = no maximum */
            max_tunnel_ttl_seconds: number | null;
            /** @enum {string} */
            plan: "free" | "pro" | "team" | "enterprise";
            /** @description null = unlimited */
            reserved_subdomains: number | null;
        };
        Error: {
            /** @description With `invalid_request`: each field that does not fit. */
            details?: {
                message: string;
                path: string;
            }[];
            /**
             * @description Stable machine code: branch on this.
             * @example not_found
             * @enum {string}
             */
            error: "invalid_request" | "invalid_code" | "invalid_cidr" | "invalid_name" | "invalid_domain" | "invalid_public_key" | "bad_policy" | "authorization_pending" | "unauthorized" | "invalid_signature" | "upgrade_required" | "forbidden" | "email_not_verified" | "not_found" | "method_not_allowed" | "duplicate_name" | "network_full" | "server_not_registered" | "conflict" | "body_truncated" | "payload_too_large" | "rate_limited" | "internal" | "not_implemented" | "unavailable" | "tunnel_offline" | "not_configured";
            /**
             * @description For people: what to do next.
             * @example There is no such thing.
             */
            message: string;
            /** @description The same as the header Retry-After. */
            retry_after_seconds?: number;
        };
        /**
         * @example {
         *       "email": "ann@example.com"
         *     }
         */
        ForgotPassword: {
            email: string;
        };
        ForgotPasswordResult: {
            /** @enum {string} */
            status: "accepted";
        };
        /**
         * @example {
         *       "status": "degraded",
         *       "version": "0.1.0",
         *       "checks": [
         *         {
         *           "name": "database",
         *           "status": "ok",
         *           "detail": "The database takes changes."
         *         },
         *         {
         *           "name": "disk_space",
         *           "status": "warn",
         *           "detail": "The disk is nearly full: requests are not recorded."
         *         }
         *       ]
         *     }
         */
        Health: {
            checks: components["schemas"]["HealthCheck"][];
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
        };
        /**
         * @example {
         *       "name": "database",
         *       "status": "ok",
         *       "detail": "The database takes changes."
         *     }
         */
        HealthCheck: {
            /** @description For people */
            detail: string;
            /** @description database, disk_space, data_node, keys, recording, certificates, mail, jobs or log. More may come: take an unknown one by its status. */
            name: string;
            /** @enum {string} */
            status: "ok" | "warn" | "fail";
        };
        /**
         * @example {
         *       "log": {
         *         "version": "1.2",
         *         "creator": {
         *           "name": "Culvert",
         *           "version": "1.0.0"
         *         },
         *         "pages": [],
         *         "entries": []
         *       }
         *     }
         */
        HttpArchive: {
            log: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "provider": "github",
         *       "email": "ann@example.com",
         *       "created_at": "2026-11-21T09:30:00.000Z",
         *       "last_used_at": "2026-11-21T09:30:00.000Z"
         *     }
         */
        Identity: {
            /** Format: date-time */
            created_at: string;
            /** @description As the provider said at the last log-in */
            email: string;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_used_at: string;
            /** @enum {string} */
            provider: "google" | "github";
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10",
         *       "tunnel_id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "timestamp": "2026-11-21T09:05:00.000Z",
         *       "method": "POST",
         *       "path": "/orders?source=web",
         *       "status": 201,
         *       "latency_ms": 12.4,
         *       "request_size": 15,
         *       "response_size": 11,
         *       "remote_ip": "203.0.113.7",
         *       "outcome": "forwarded",
         *       "code": null,
         *       "replay_of": null
         *     }
         */
        InspectedRequest: {
            /** @description Error code of the edge (`culvert-error`), when it answered by itself or cut the answer */
            code: string | null;
            /** Format: uuid */
            id: string;
            /** @description From the head's arrival to the end of the answer; of an upgraded connection to the answer's head */
            latency_ms: number;
            method: string;
            /**
             * @description `forwarded`: the visitor got the service's answer; `refused`: the edge let it not pass; `failed`: it passed, and no whole answer came
             * @enum {string}
             */
            outcome: "forwarded" | "refused" | "failed";
            /** @description Request target as the visitor sent it, query included */
            path: string;
            remote_ip: string;
            /**
             * Format: uuid
             * @description The record that this one repeats
             */
            replay_of: string | null;
            /** @description Bytes of the body, whatever was kept of it */
            request_size: number;
            response_size: number;
            /** @description What the visitor got; 0: nothing */
            status: number;
            /**
             * Format: date-time
             * @description When its head came
             */
            timestamp: string;
            /** Format: uuid */
            tunnel_id: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10",
         *       "tunnel_id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "timestamp": "2026-11-21T09:05:00.000Z",
         *       "method": "POST",
         *       "path": "/orders?source=web",
         *       "status": 201,
         *       "latency_ms": 12.4,
         *       "request_size": 15,
         *       "response_size": 11,
         *       "remote_ip": "203.0.113.7",
         *       "outcome": "forwarded",
         *       "code": null,
         *       "replay_of": null,
         *       "host": "shop.example.com",
         *       "http_version": "1.1",
         *       "request_headers": {
         *         "host": "shop.example.com",
         *         "content-type": "application/json",
         *         "content-length": "15"
         *       },
         *       "response_headers": {
         *         "content-length": "11"
         *       },
         *       "request_header_list": [
         *         {
         *           "name": "Host",
         *           "value": "shop.example.com"
         *         },
         *         {
         *           "name": "Content-Type",
         *           "value": "application/json"
         *         },
         *         {
         *           "name": "Content-Length",
         *           "value": "15"
         *         }
         *       ],
         *       "response_header_list": [
         *         {
         *           "name": "Content-Length",
         *           "value": "11"
         *         }
         *       ],
         *       "request_body": "eyJpdGVtIjoiYm9vayJ9",
         *       "response_body": "eyJvayI6dHJ1ZX0=",
         *       "request_body_truncated": false,
         *       "response_body_truncated": false,
         *       "trace": {
         *         "outcome": "forwarded",
         *         "code": null,
         *         "scheme": "https",
         *         "steps": [
         *           {
         *             "step": "rate_limit",
         *             "index": 0,
         *             "rule": null,
         *             "verdict": "passed",
         *             "code": null
         *           }
         *         ],
         *         "agent_id": "0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33",
         *         "token_id": "019aa3c2-5b70-7a4e-9c61-2d8f0b7e5a13",
         *         "connection": "kept",
         *         "retried": false,
         *         "policy_ms": 0.1,
         *         "first_byte_ms": 11.8
         *       }
         *     }
         */
        InspectedRequestDetail: components["schemas"]["InspectedRequest"] & {
            host: string;
            /** @enum {string} */
            http_version: "2" | "1.0" | "1.1";
            /** @description The bytes as they went, a content coding included, in base64 */
            request_body: string;
            /** @description Longer than `inspector.max_body_bytes`: the rest was not kept */
            request_body_truncated: boolean;
            /** @description The same in their order, with their names as they came */
            request_header_list: {
                name: string;
                value: string;
            }[];
            /** @description As the service got them; of a refused request as the visitor sent them, without its credentials. Names in lower case. Repeated ones are joined by a comma and a blank, `cookie` by a semicolon and a blank, `set-cookie` by a line feed. Bytes beyond ASCII are one character each. The values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***` to a `viewer` */
            request_headers: {
                [key: string]: string;
            };
            response_body: string;
            response_body_truncated: boolean;
            /** @description The same in their order, with their names as they came */
            response_header_list: {
                name: string;
                value: string;
            }[];
            /** @description As the service sent them; empty when it sent none */
            response_headers: {
                [key: string]: string;
            };
            trace: components["schemas"]["InspectedTrace"];
        };
        InspectedTrace: {
            /**
             * Format: uuid
             * @description The agent session that carried it
             */
            agent_id: string | null;
            code: string | null;
            /**
             * @description To the local service: made for it, or kept from an earlier request
             * @enum {string|null}
             */
            connection: "fresh" | "kept" | null;
            /** @description Until the head of the service's answer came */
            first_byte_ms: number | null;
            /** @enum {string} */
            outcome: "forwarded" | "refused" | "failed";
            /** @description From the head's arrival until the policy had decided */
            policy_ms: number;
            /** @description A kept connection turned out to be closed: sent once more */
            retried: boolean;
            /** @enum {string} */
            scheme: "http" | "https";
            /** @description What was asked before it was passed on, in this order */
            steps: {
                code: string | null;
                /** @description Place of the action in the policy */
                index: number | null;
                /**
                 * @description Of an action that did not let it pass: what it said then. Of `agent_wait`: how long it waited
                 * @example /admin
                 */
                rule: string | null;
                /** @description Kind of the action, or `basic_gate`, `visitor_gate`, `visitor_sign_in`, `agent_wait` (no agent was online) */
                step: string;
                /**
                 * @description `would_refuse`: by an action that is only tried; `beside`: such a one that finds out beside the request
                 * @enum {string}
                 */
                verdict: "passed" | "refused" | "would_refuse" | "beside";
            }[];
            token_id: string | null;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b90-7a10-8d31-7c2b5e9f4a08",
         *       "email": "bob@example.com",
         *       "role": "member",
         *       "invited_by": "ann@example.com",
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "expires_at": "2026-11-28T09:00:00.000Z"
         *     }
         */
        Invitation: {
            /** Format: date-time */
            created_at: string;
            email: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /** @description E-mail address */
            invited_by: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        /**
         * @example {
         *       "keys": [
         *         {
         *           "kty": "OKP",
         *           "crv": "Ed25519",
         *           "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
         *           "kid": "743cde2c37a10b55",
         *           "alg": "EdDSA",
         *           "use": "sig"
         *         }
         *       ]
         *     }
         */
        Jwks: {
            keys: {
                alg: string;
                crv: string;
                kid: string;
                kty: string;
                use: string;
                x: string;
            }[];
        };
        LoginResult: {
            /**
             * @description 15 minutes
             * @example eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2ln
             */
            access_token: string;
            active_org: components["schemas"]["ActiveOrg"];
            /** @example false */
            is_superadmin: boolean;
            user: {
                /** @example ada@example.com */
                email: string;
                /**
                 * Format: uuid
                 * @example 01939e5c-7f00-7a31-b0c4-0d2b9d4f6a10
                 */
                id: string;
            };
        };
        LogoutResult: {
            /** @enum {string} */
            status: "logged_out";
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7c-7d21-9f0e-4b1d6a7c8e05",
         *       "name": "prometheus",
         *       "key": "msk_4fVq…"
         *     }
         */
        MadeMetricKey: {
            /** Format: uuid */
            id: string;
            /** @description Never shown again */
            key: string;
            name: string;
        };
        /**
         * @example {
         *       "message": "Back at six."
         *     }
         */
        MaintenanceNotice: {
            /** @description Message to visitors, as text. Omitted or empty: the edge's own words */
            message?: string;
        };
        /**
         * @example {
         *       "user_id": "019aa3c2-5b6a-7f31-8c02-51d0a7b9e604",
         *       "email": "ann@example.com",
         *       "name": "Ann",
         *       "role": "owner",
         *       "joined_at": "2026-11-21T09:00:00.000Z",
         *       "mfa_enabled": true
         *     }
         */
        Member: {
            email: string;
            /** Format: date-time */
            joined_at: string;
            /** @description null: of others only admins and owners see it */
            mfa_enabled: boolean | null;
            name: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
            /** Format: uuid */
            user_id: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7c-7d21-9f0e-4b1d6a7c8e05",
         *       "name": "prometheus",
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "created_by": "ann@example.com",
         *       "last_used_at": "2026-11-21T09:30:00.000Z"
         *     }
         */
        MetricKey: {
            /** Format: date-time */
            created_at: string;
            /** @description E-mail address */
            created_by: string | null;
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description To the minute
             */
            last_used_at: string | null;
            name: string;
        };
        /**
         * @example {
         *       "total_tunnels": 3,
         *       "active_tunnels": 1,
         *       "requests_last_24h": 1204,
         *       "bytes_in_last_24h": 310112,
         *       "bytes_out_last_24h": 9882010,
         *       "networks": [
         *         {
         *           "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a11",
         *           "name": "office",
         *           "online": true,
         *           "devices": 12,
         *           "packets_in": 120400,
         *           "packets_out": 180020,
         *           "bytes_in": 15200180,
         *           "bytes_out": 201010220
         *         }
         *       ]
         *     }
         */
        MetricsCounters: {
            /** @description Served by an agent now */
            active_tunnels: number;
            bytes_in_last_24h: number;
            bytes_out_last_24h: number;
            networks: {
                bytes_in: number;
                bytes_out: number;
                /** @description Enrolled, those that have run out left out */
                devices: number;
                /** Format: uuid */
                id: string;
                name: string;
                /** @description An agent carries its datagrams now */
                online: boolean;
                /** @description Datagrams of clients since the network was made */
                packets_in: number;
                /** @description Datagrams of its server since then */
                packets_out: number;
            }[];
            requests_last_24h: number;
            total_tunnels: number;
        };
        /**
         * @example {
         *       "timestamp": "2026-11-21T09:15:00.000Z",
         *       "value": 42
         *     }
         */
        MetricsPoint: {
            /**
             * Format: date-time
             * @description When the bucket begins
             */
            timestamp: string;
            value: number;
        };
        MfaConfirmation: {
            /** @example 492039 */
            code: string;
        };
        /**
         * @example {
         *       "recovery_code": "4k7q-m2xz-9d0w"
         *     }
         */
        MfaDisable: {
            /** @example correct horse battery staple */
            password?: string | null;
            /**
             * @description Case, spaces and dashes do not matter
             * @example 4k7q-m2xz-9d0w
             */
            recovery_code?: string | null;
        } & ({
            password: string;
        } | {
            recovery_code: string;
        });
        MfaDisabled: {
            /**
             * @example disabled
             * @enum {string}
             */
            status: "disabled";
        };
        MfaEnrollment: {
            /**
             * @description For a QR code
             * @example otpauth://totp/Culvert:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Culvert
             */
            otpauth_uri: string;
            /**
             * @description To be typed where a camera is missing
             * @example JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP
             */
            secret_base32: string;
        };
        /**
         * @example {
         *       "challenge_token": "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln",
         *       "code": "492039"
         *     }
         */
        MfaLogin: {
            /** @example eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln */
            challenge_token: string;
            /**
             * @description The 6 digits that the app shows
             * @example 492039
             */
            code?: string | null;
            /**
             * @description Case, spaces and dashes do not matter
             * @example 4k7q-m2xz-9d0w
             */
            recovery_code?: string | null;
        } & ({
            code: string;
        } | {
            recovery_code: string;
        });
        MfaRequired: {
            /**
             * @description For POST /auth/login/mfa, within 5 minutes
             * @example eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln
             */
            challenge_token: string;
            /**
             * @example true
             * @enum {boolean}
             */
            mfa_required: true;
        };
        MfaStatus: {
            /** @example true */
            enabled: boolean;
            /**
             * Format: date-time
             * @example 2026-11-21T10:00:00.000Z
             */
            enabled_at: string | null;
            /** @example 9 */
            recovery_codes_left: number;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20",
         *       "name": "ci",
         *       "nonce": "5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6",
         *       "kind": "agent",
         *       "version": 1,
         *       "tunnelQuota": 2,
         *       "bandwidthLimitMbps": 100,
         *       "allowedSubdomains": [
         *         "pr-*"
         *       ],
         *       "projectSlug": null,
         *       "parentNonce": null,
         *       "issuedAt": 1795250000,
         *       "expiresAt": 1795336400,
         *       "graceEndsAt": null,
         *       "replacedBy": null,
         *       "revoked": false,
         *       "monthlyBudgetUsdCents": null,
         *       "spentUsdCents": 0,
         *       "lastUsedAt": null,
         *       "wireBytesLen": 262,
         *       "apiKey": "mtk_0f3Qb8WcJxT1sN5eLr7YkUa2ZpVdHm4Go9iX6tKyBwC",
         *       "wireBytes": "0oRDoQEnoFhA...",
         *       "subject": "org:019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a00",
         *       "signature": "c2lnbmF0dXJl..."
         *     }
         */
        MintedToken: components["schemas"]["Token"] & {
            /** @description Shown once */
            apiKey: string;
            /** @description Base64 */
            signature: string;
            subject: string;
            /** @description Base64 of a CWT; shown once */
            wireBytes: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7c-7b08-8e15-4d6f2a9c1e30",
         *       "name": "laptop",
         *       "assigned_ip": "10.80.0.2",
         *       "public_key": "8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=",
         *       "expires_at": null,
         *       "expired": false,
         *       "extra_allowed_ips": [],
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "last_handshake_at": "2026-11-21T09:04:00.000Z",
         *       "last_seen_at": "2026-11-21T09:05:00.000Z",
         *       "endpoint": "198.51.100.7:40213",
         *       "bytes_in": 18204,
         *       "bytes_out": 92311
         *     }
         */
        NetworkDevice: {
            /** @description Address in the network */
            assigned_ip: string;
            /** @description Bytes that the device sent */
            bytes_in: number;
            /** @description Bytes that were sent to it */
            bytes_out: number;
            /** Format: date-time */
            created_at: string;
            /** @description Address and port that it spoke from last */
            endpoint: string | null;
            /** @description Its time has run out: it shakes hands no more, and keeps its address */
            expired: boolean;
            /**
             * Format: date-time
             * @description null: never
             */
            expires_at: string | null;
            /** @description Networks behind the device */
            extra_allowed_ips: string[];
            /** Format: uuid */
            id: string;
            /**
             * Format: date-time
             * @description As the relay sees it, like what follows; null: not seen. Of a network whose clients reach the machine by themselves nothing is seen.
             */
            last_handshake_at: string | null;
            /** Format: date-time */
            last_seen_at: string | null;
            name: string;
            /** @description WireGuard public key */
            public_key: string;
        };
        /**
         * @example {
         *       "expires_at": "2027-01-01T00:00:00Z"
         *     }
         */
        NetworkDeviceChanges: {
            /**
             * Format: date-time
             * @description From then on the device is cut off; it must lie ahead. null: never
             * @example 2027-01-01T00:00:00Z
             */
            expires_at?: string | null;
            /**
             * @description Networks behind the device, at most 16, each /8 or narrower, none behind another one of the network: the config of the server has them
             * @example [
             *       "192.168.9.0/24"
             *     ]
             */
            extra_allowed_ips?: string[];
            /**
             * @description 1 to 63 characters that can be seen, and not the form of an id; else `invalid_name`
             * @example laptop
             */
            name?: string;
        };
        /**
         * @example {
         *       "online": true,
         *       "path": "udp",
         *       "path_since": "2026-11-21T09:30:01.000Z",
         *       "attached_at": "2026-11-21T09:30:00.000Z",
         *       "agent_id": "0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33",
         *       "flows": 2,
         *       "packets_in": 120400,
         *       "packets_out": 180020,
         *       "bytes_in": 15200180,
         *       "bytes_out": 201010220,
         *       "dropped": {
         *         "no_agent": 12,
         *         "queue_full": 0,
         *         "send_failed": 0,
         *         "flows": 0,
         *         "unproven": 3,
         *         "not_enrolled": 1,
         *         "no_flow": 0,
         *         "too_long": 0,
         *         "wrong_source": 0,
         *         "malformed": 0,
         *         "budget": 0,
         *         "bandwidth": 0
         *       }
         *     }
         */
        NetworkRelay: {
            /**
             * Format: uuid
             * @description The one of `GET /connections`
             */
            agent_id: string | null;
            /**
             * Format: date-time
             * @description Since when this agent carries the network
             */
            attached_at: string | null;
            /** @description Bytes in the datagrams of clients */
            bytes_in: number;
            /** @description Bytes in the datagrams of its server */
            bytes_out: number;
            /** @description Datagrams that were dropped, by reason; every reason is there, and counted since the server opened the port (as it does when it starts, or when an agent comes after all clients have gone), which is later than what packets and bytes are counted from. Null while no agent is attached. `no_agent`: no agent was attached; `queue_full`: the way to the agent was full, and the oldest went; `send_failed`: the system of the server took no more; `flows`: no room for another client; `unproven`: more bytes would have gone to an address than came from it before it had shaken hands; `not_enrolled`: a handshake with a key that is not enrolled, was revoked or has run out; `no_flow`: for a client that has gone; `too_long`; `wrong_source`: not from the address of the agent, or from one that carried the network before; `malformed`; `budget`: the budget of the token is spent; `bandwidth`: over its bandwidth limit */
            dropped: {
                [key: string]: number;
            } | null;
            /** @description Addresses and ports that clients speak from now */
            flows: number;
            /** @description An agent carries the network now: `culvert udp PORT --network NAME` */
            online: boolean;
            /** @description Datagrams of clients that were passed on, since the network was made */
            packets_in: number;
            /** @description Datagrams of its server that were passed on */
            packets_out: number;
            /**
             * @description The way between server and agent. `stream`: UDP does not get through, so datagrams go by the session of the agent, slower where packets get lost, until it does
             * @enum {string|null}
             */
            path: "udp" | "stream" | null;
            /**
             * Format: date-time
             * @description Since when they go this way
             */
            path_since: string | null;
        };
        /**
         * @example {
         *       "monthlyBudgetUsdCents": 500
         *     }
         */
        NewBudget: {
            monthlyBudgetUsdCents: number | null;
        };
        /**
         * @example {
         *       "domain": "shop.example.com"
         *     }
         */
        NewDomain: {
            domain: string;
        };
        /**
         * @example {
         *       "email": "bob@example.com",
         *       "role": "member"
         *     }
         */
        NewInvitation: {
            email: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        /**
         * @example {
         *       "name": "ci",
         *       "ttl_days": 90
         *     }
         */
        NewMasterKey: {
            monthlyBudgetUsdCents?: number | null;
            name: string;
            /** @default 90 */
            ttl_days: number;
        };
        NewMetricKey: {
            /** @example prometheus */
            name: string;
        };
        /**
         * @example {
         *       "name": "laptop",
         *       "public_key": "8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM="
         *     }
         */
        NewNetworkDevice: {
            /**
             * Format: date-time
             * @description From then on the device is cut off; it must lie ahead. null: never
             * @example 2027-01-01T00:00:00Z
             */
            expires_at?: string | null;
            /**
             * @description Networks behind the device, at most 16, each /8 or narrower, none behind another one of the network: the config of the server has them
             * @example [
             *       "192.168.9.0/24"
             *     ]
             */
            extra_allowed_ips?: string[];
            /**
             * @description 1 to 63 characters that can be seen, and not the form of an id; else `invalid_name`
             * @example laptop
             */
            name: string;
            /**
             * @description What `wg pubkey` prints: 32 bytes in base64; else `invalid_public_key`
             * @example 8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=
             */
            public_key: string;
        };
        /**
         * @example {
         *       "name": "office",
         *       "cidr": "10.80.0.0/24"
         *     }
         */
        NewPrivateNetwork: {
            /**
             * @description An IPv4 network of /8 to /30 in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10, without host bits; else `invalid_cidr`. It never changes.
             * @example 10.80.0.0/24
             */
            cidr: string;
            /**
             * @description 1 to 63 characters that can be seen, and not the form of an id; else `invalid_name`
             * @example office
             */
            name: string;
        };
        /**
         * @example {
         *       "slug": "shop",
         *       "name": "Web shop"
         *     }
         */
        NewProject: {
            name: string;
            slug: string;
        };
        /**
         * @example {
         *       "name": "pull-request",
         *       "ttl_hours": 2,
         *       "allowed_subdomains": [
         *         "pr-*"
         *       ]
         *     }
         */
        NewProjectToken: {
            /**
             * @description Names without the suffix of the project
             * @default [
             *       "*"
             *     ]
             */
            allowed_subdomains: string[];
            /** @default 100 */
            bandwidthLimitMbps: number;
            monthlyBudgetUsdCents?: number | null;
            name: string;
            /** @description Default 1 by a master key, 24 by a person; cut to 2160 and to the end of the master key */
            ttl_hours?: number;
            /** @default 5 */
            tunnelQuota: number;
        };
        /**
         * @example {
         *       "subdomain": "shop"
         *     }
         */
        NewReservedSubdomain: {
            subdomain: string;
        };
        /**
         * @example {
         *       "graceHours": 24
         *     }
         */
        NewRotation: {
            /** @description Default 0 */
            graceHours?: number;
        };
        /**
         * @example {
         *       "name": "ci",
         *       "ttlHours": 24,
         *       "allowedSubdomains": [
         *         "pr-*"
         *       ],
         *       "tunnelQuota": 2
         *     }
         */
        NewToken: {
            /**
             * @default [
             *       "*"
             *     ]
             */
            allowedSubdomains: string[];
            /** @default 100 */
            bandwidthLimitMbps: number;
            monthlyBudgetUsdCents?: number | null;
            /** @default token */
            name: string;
            /**
             * @description Cut to 2160
             * @default 24
             */
            ttlHours: number;
            /** @default 5 */
            tunnelQuota: number;
        };
        /**
         * @example {
         *       "localPort": 3000,
         *       "subdomain": "shop"
         *     }
         */
        NewTunnel: {
            localPort: number;
            /** @description Omitted: the default project */
            projectSlug?: string;
            /**
             * @default http
             * @enum {string}
             */
            protocol: "http" | "https" | "websocket" | "tcp";
            /** @description Omitted: a random name. In a project other than the default one it is followed by `-<slug>`; both together have at most 63 characters */
            subdomain?: string;
            /** @description Cut to the plan's maximum */
            ttlSeconds?: number;
        };
        /**
         * @example {
         *       "name": "orders",
         *       "validator": "github",
         *       "secret": "k3Yw0mV8…"
         *     }
         */
        NewWebhookReceiver: {
            forward?: components["schemas"]["WebhookForward"] & unknown;
            /** @example orders */
            name: string;
            /**
             * @description Shared with the sender; never shown again
             * @example k3Yw0mV8…
             */
            secret: string;
            /**
             * @description `generic_hmac_sha256`: `X-Signature-256: sha256=<hex HMAC-SHA256 of the body>`, with `X-Delivery-Id` and `X-Event-Type` where the sender has them. `github`, `slack`, `stripe`: as these sign.
             * @example github
             * @enum {string}
             */
            validator: "generic_hmac_sha256" | "github" | "slack" | "stripe";
        };
        /**
         * @example {
         *       "status": "unavailable",
         *       "error": "unavailable",
         *       "message": "The database takes no changes: its disk is full or fails.",
         *       "version": "0.1.0",
         *       "checks": [
         *         {
         *           "name": "database",
         *           "status": "fail",
         *           "detail": "The database takes no changes: its disk is full or fails."
         *         }
         *       ]
         *     }
         */
        NotReady: components["schemas"]["Readiness"] & {
            /** @enum {string} */
            error: "unavailable";
            message: string;
        };
        Ok: {
            /** @enum {boolean} */
            ok: true;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "timestamp": "2026-11-21T09:30:00.000Z",
         *       "action": "org.plan",
         *       "resourceType": "organization",
         *       "resourceId": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "userEmail": "operator (root)",
         *       "actorType": "operator",
         *       "ipAddress": "",
         *       "details": {
         *         "from": "free",
         *         "to": "pro"
         *       },
         *       "orgId": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10"
         *     }
         */
        OperatedAuditEvent: components["schemas"]["AuditEvent"] & {
            /**
             * Format: uuid
             * @description Organization of the audit log that holds it; null for none
             */
            orgId: string | null;
        };
        /**
         * @example {
         *       "name": "shop.example.com",
         *       "state": "failed",
         *       "expiresAt": null,
         *       "lastError": "the authority could not connect to shop.example.com: connection refused",
         *       "nextAttemptAt": "2026-11-21T09:40:00.000Z",
         *       "failures": 2,
         *       "lastAttemptAt": "2026-11-21T09:30:00.000Z"
         *     }
         */
        OperatedCertificate: {
            /** Format: date-time */
            expiresAt: string | null;
            /** @description Attempts in a row that failed */
            failures: number;
            /** Format: date-time */
            lastAttemptAt: string | null;
            /** @description Why the last attempt failed; also of a renewal while the old one is valid */
            lastError: string | null;
            /** @description A host, or `*.` and the domain of the edge */
            name: string;
            /**
             * Format: date-time
             * @description When it is asked for, or renewed
             */
            nextAttemptAt: string | null;
            /**
             * @description `none`: not asked for yet, `pending`: asked for, `valid`, `failed`: none could be had, and it is asked for again at `nextAttemptAt`
             * @enum {string}
             */
            state: "none" | "pending" | "valid" | "failed";
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "name": "Shop",
         *       "slug": "shop",
         *       "plan": "pro",
         *       "approval_status": "pending",
         *       "created_at": "2026-11-21T09:30:00.000Z",
         *       "deleted_at": null,
         *       "members": 3,
         *       "owners": [
         *         "ann@example.com"
         *       ]
         *     }
         */
        OperatedOrganization: {
            /** @enum {string} */
            approval_status: "approved" | "pending" | "suspended";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deleted_at: string | null;
            /** Format: uuid */
            id: string;
            members: number;
            name: string;
            /** @description E-mail addresses */
            owners: string[];
            /** @enum {string} */
            plan: "free" | "pro" | "team" | "enterprise";
            slug: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01",
         *       "name": "Acme",
         *       "slug": "acme",
         *       "role": "owner",
         *       "plan": "pro",
         *       "approval_status": "approved",
         *       "created_at": "2026-11-21T09:00:00.000Z"
         *     }
         */
        Organization: {
            /**
             * @description Unless `approved` it opens no tunnels, mints no tokens, buys no plans and sends no invitations; suspended, its owners stay owners
             * @enum {string}
             */
            approval_status: "approved" | "pending" | "suspended";
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            plan: "free" | "pro" | "team" | "enterprise";
            /**
             * @description The caller's
             * @enum {string}
             */
            role: "viewer" | "member" | "admin" | "owner";
            /** @description Made from the first name, never changes */
            slug: string;
        };
        /**
         * @description Other fields are ignored
         * @example {
         *       "name": "Acme"
         *     }
         */
        OrganizationName: {
            name: string;
        };
        /**
         * @example {
         *       "policy": {
         *         "actions": [
         *           {
         *             "kind": "deny",
         *             "path_prefix": "/admin"
         *           }
         *         ]
         *       },
         *       "limit": 1000
         *     }
         */
        PolicyTest: {
            /**
             * @description How many of the newest recorded requests are looked at
             * @default 1000
             */
            limit: number;
            policy: components["schemas"]["TrafficPolicy"];
        };
        /**
         * @example {
         *       "tested": 998,
         *       "would_refuse": 14,
         *       "not_tested": [
         *         {
         *           "reason": "credentials_not_recorded",
         *           "count": 2
         *         }
         *       ],
         *       "from": "2026-11-20T08:00:00.000Z",
         *       "to": "2026-11-21T13:04:11.000Z",
         *       "by_action": [
         *         {
         *           "index": 0,
         *           "kind": "deny",
         *           "rule": "/admin",
         *           "enforced": true,
         *           "would_refuse": 14
         *         }
         *       ],
         *       "requests": [
         *         {
         *           "id": "019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21",
         *           "timestamp": "2026-11-21T13:04:11.000Z",
         *           "method": "GET",
         *           "path": "/admin/users",
         *           "status": 200,
         *           "remote_ip": "203.0.113.7",
         *           "action": 0,
         *           "code": "denied",
         *           "enforced": true
         *         }
         *       ]
         *     }
         */
        PolicyTestResult: {
            /** @description Each action that can refuse. A request that one refuses does not come to the next */
            by_action: {
                /** @description False: the action is only tried (`"enforce": false`) */
                enforced: boolean;
                /** @description Place of the action in the policy, from 0 */
                index: number;
                kind: string;
                rule: string;
                would_refuse: number;
            }[];
            /**
             * Format: date-time
             * @description When the oldest of them came; null: none was recorded
             */
            from: string | null;
            /** @description `credentials_not_recorded`: the record does not have the token that `jwt_validation` asks for, as of a request that was refused, or whose token stayed at the edge. `keys_not_known`: the keys that the token may be signed by are not known at the edge now; none are fetched for a test. `not_readable`: the edge would not take the request today. */
            not_tested: {
                count: number;
                /** @enum {string} */
                reason: "credentials_not_recorded" | "keys_not_known" | "not_readable";
            }[];
            /** @description What would be refused, or is refused by an action that is only tried: newest first, 100 at most */
            requests: {
                /** @description Place of the action in the policy, from 0 */
                action: number;
                /** @description The code that the visitor would get */
                code: string;
                /** @description False: the action is only tried (`"enforce": false`) */
                enforced: boolean;
                /**
                 * Format: uuid
                 * @description Of the record: `GET /inspector/{id}`
                 */
                id: string;
                method: string;
                path: string;
                remote_ip: string;
                /** @description What the visitor got then; 0: nothing */
                status: number;
                /** Format: date-time */
                timestamp: string;
            }[];
            /** @description Recorded requests that could be judged */
            tested: number;
            /** Format: date-time */
            to: string | null;
            /** @description Of those, what an enforced action would refuse */
            would_refuse: number;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7a-7e21-9f43-8a1c0d5b6e72",
         *       "name": "office",
         *       "cidr": "10.80.0.0/24",
         *       "server_public_key": "cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=",
         *       "public_endpoint": "example.com:30000",
         *       "server_listen_port": 51820,
         *       "reserved_udp_port": 30000,
         *       "dns": [],
         *       "extra_allowed_ips": [
         *         "192.168.7.0/24"
         *       ],
         *       "device_count": 2,
         *       "created_at": "2026-11-21T09:00:00.000Z"
         *     }
         */
        PrivateNetwork: {
            /** @description Addresses of the network; its first host is the server */
            cidr: string;
            /** Format: date-time */
            created_at: string;
            /** @description Enrolled devices */
            device_count: number;
            /** @description Name servers that clients use */
            dns: string[];
            /** @description What clients send this way beside `cidr` */
            extra_allowed_ips: string[];
            /** Format: uuid */
            id: string;
            name: string;
            /** @description `host:port` that clients are configured with; null until a server is registered, and again when the operator has taken the port of the network away (`edge.udp_ports`): then register the server again, and give clients new configs */
            public_endpoint: string | null;
            /** @description UDP port of this server that clients come to; it stays with the network until its server is registered again after the operator took that port away. null: none yet, or clients reach the machine by themselves */
            reserved_udp_port: number | null;
            /** @description Where WireGuard listens on the machine of the server */
            server_listen_port: number | null;
            /** @description WireGuard public key; null until a server is registered */
            server_public_key: string | null;
        };
        /**
         * @example {
         *       "extra_allowed_ips": [
         *         "192.168.7.0/24"
         *       ]
         *     }
         */
        PrivateNetworkChanges: {
            /**
             * @description IP addresses of name servers, at most 3, which configs of clients get
             * @example [
             *       "10.80.0.1"
             *     ]
             */
            dns?: (string | unknown | unknown)[];
            /**
             * @description Networks that clients send this way beside `cidr`, at most 16; 0.0.0.0/0 and ::/0 for everything
             * @example [
             *       "192.168.7.0/24"
             *     ]
             */
            extra_allowed_ips?: string[];
            /**
             * @description 1 to 63 characters that can be seen, and not the form of an id; else `invalid_name`
             * @example office
             */
            name?: string;
        };
        /**
         * @example {
         *       "server_public_key": "cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=",
         *       "server_listen_port": 51820
         *     }
         */
        PrivateNetworkServer: {
            /**
             * @description Only where clients reach the machine by themselves: `host:port`. Left out or null: they come to a UDP port of this server.
             * @example vpn.example.com:51820
             */
            public_endpoint?: string | null;
            /** @example 51820 */
            server_listen_port: number;
            /**
             * @description What `wg pubkey` prints: 32 bytes in base64; else `invalid_public_key`
             * @example cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=
             */
            server_public_key: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b74-7f21-9c3d-2b8e6a1d4c03",
         *       "slug": "shop",
         *       "name": "Web shop",
         *       "isDefault": false,
         *       "createdAt": "2026-11-21T09:00:00.000Z",
         *       "tunnels": 3,
         *       "tokens": 1
         *     }
         */
        Project: {
            /** Format: date-time */
            createdAt: string;
            /** Format: uuid */
            id: string;
            /** @description Adds no suffix, and stays */
            isDefault: boolean;
            name: string;
            /** @description Never changes. Names in the project end with it: `<name>-<slug>` */
            slug: string;
            /** @description Live keys that may open tunnels in it alone */
            tokens: number;
            /** @description How many it has */
            tunnels: number;
        };
        /**
         * @description Other fields are ignored; the slug stays
         * @example {
         *       "name": "Web shop"
         *     }
         */
        ProjectName: {
            name: string;
        };
        /**
         * @example {
         *       "status": "ready",
         *       "version": "0.1.0",
         *       "checks": [
         *         {
         *           "name": "database",
         *           "status": "ok",
         *           "detail": "The database takes changes."
         *         },
         *         {
         *           "name": "disk_space",
         *           "status": "warn",
         *           "detail": "The disk is nearly full: requests are not recorded."
         *         }
         *       ]
         *     }
         */
        Readiness: {
            checks: components["schemas"]["HealthCheck"][];
            /** @enum {string} */
            status: "ready" | "unavailable";
            version: string;
        };
        /**
         * @example {
         *       "enabled": true,
         *       "not_recorded": [
         *         "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10"
         *       ],
         *       "replay": true,
         *       "replay_tunnels": null
         *     }
         */
        Recording: {
            /** @description False: this server records no requests (`inspector.enabled`) */
            enabled: boolean;
            /** @description Tunnels that are served now by agents which want nothing recorded (`--no-inspect`) */
            not_recorded: string[];
            /** @description False: this server sends no request again (`inspector.replay`) */
            replay: boolean;
            /** @description Only requests of these tunnels of the organization are sent again (`inspector.replay_allow`); null: of all */
            replay_tunnels: string[] | null;
        };
        RecoveryCodes: {
            /**
             * @description Shown once; each is good for one log-in
             * @example [
             *       "4k7q-m2xz-9d00",
             *       "4k7q-m2xz-9d01",
             *       "4k7q-m2xz-9d02",
             *       "4k7q-m2xz-9d03",
             *       "4k7q-m2xz-9d04",
             *       "4k7q-m2xz-9d05",
             *       "4k7q-m2xz-9d06",
             *       "4k7q-m2xz-9d07",
             *       "4k7q-m2xz-9d08",
             *       "4k7q-m2xz-9d09"
             *     ]
             */
            recovery_codes: string[];
        };
        RecoveryCodesRenewal: {
            /** @example correct horse battery staple */
            password: string;
        };
        RefreshResult: {
            /** @example eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2ln */
            access_token: string;
        };
        /**
         * @example {
         *       "success": true,
         *       "revoked_tokens": 2
         *     }
         */
        RemovedMember: {
            /** @description Tokens that the person had made here */
            revoked_tokens: number;
            /** @enum {boolean} */
            success: true;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21",
         *       "status": 201,
         *       "latency_ms": 12.4
         *     }
         */
        Replayed: {
            /** @description Why the edge answered by itself (`culvert-error`): the tunnel's policy refused it, for example. Beside a status of the service: why its answer was cut */
            code?: string;
            /**
             * Format: uuid
             * @description Of the new record, whose `replay_of` is the one that was sent again. There is none where the agent runs with `--no-inspect`
             */
            id: string;
            latency_ms: number;
            /** @description The service's; the edge's own with `code` */
            status: number;
        };
        /**
         * @example {
         *       "method": "PUT",
         *       "path": "/orders/7?dry_run=1",
         *       "headers": {
         *         "X-Debug": "1",
         *         "Cookie": null
         *       },
         *       "body": "e30="
         *     }
         */
        ReplayEdits: {
            /** @description In place of the recorded one, in base64 */
            body?: string;
            /** @description By name, in any case: a value, or several, in place of all that were recorded; null leaves the header out. Others stay as they were. */
            headers?: {
                [key: string]: string | string[] | null;
            };
            /** @description A standard one in any case; any other is sent as it stands here */
            method?: string;
            /** @description Query included */
            path?: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b90-7a10-8d31-7c2b5e9f4a08",
         *       "email": "bob@example.com",
         *       "role": "member",
         *       "invited_by": "ann@example.com",
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "expires_at": "2026-11-30T10:15:00.000Z",
         *       "accept_url": "https://tunnel.example.com/app/invite?token=q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ"
         *     }
         */
        ResentInvitation: components["schemas"]["Invitation"] & {
            /**
             * Format: uri
             * @description The link of the email, in this response alone
             */
            accept_url: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b76-7c1f-8d52-7e0a9b3c6f05",
         *       "subdomain": "shop",
         *       "organization_id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01",
         *       "created_at": "2026-11-21T09:00:00.000Z"
         *     }
         */
        ReservedSubdomain: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            organization_id: string;
            /** @description A whole label, the suffix of a project included */
            subdomain: string;
        };
        /**
         * @example {
         *       "token": "h5Tn0cG3d8yqkz1VxJm2pWb7RsLf4aUeQo9iKvXw6Zc",
         *       "new_password": "correct horse battery staple"
         *     }
         */
        ResetPassword: {
            /** Format: password */
            new_password: string;
            token: string;
        };
        /**
         * @example {
         *       "as_of": 1795250000,
         *       "revoked": [
         *         {
         *           "nonce": "5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6",
         *           "from": 1795249000,
         *           "until": 1795336400
         *         }
         *       ]
         *     }
         */
        Revocations: {
            /** @description Unix seconds */
            as_of: number;
            revoked: {
                /** @description Unix seconds; in the future while a rotated token has its grace */
                from: number;
                nonce: string;
                /** @description Unix seconds: its expiry */
                until: number;
            }[];
        };
        /**
         * @example {
         *       "success": true
         *     }
         */
        RevokedInvitation: {
            /** @enum {boolean} */
            success: true;
        };
        /**
         * @description How many sessions ended
         * @example {
         *       "revoked": 1
         *     }
         */
        RevokedSessions: {
            revoked: number;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b72-7a55-9e1b-c40d8f6b3302",
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "last_used_at": "2026-11-21T09:30:00.000Z",
         *       "ip_address": "203.0.113.7",
         *       "user_agent": "Mozilla/5.0",
         *       "current": true
         *     }
         */
        Session: {
            /** Format: date-time */
            created_at: string;
            /** @description The one that this request belongs to */
            current: boolean;
            /** Format: uuid */
            id: string;
            ip_address: string;
            /**
             * Format: date-time
             * @description The log-in or the last refresh
             */
            last_used_at: string;
            user_agent: string;
        };
        SessionList: {
            sessions: components["schemas"]["Session"][];
        };
        /**
         * @example {
         *       "organization": "Acme",
         *       "email": "bob@example.com",
         *       "role": "member",
         *       "invited_by": "ann@example.com",
         *       "invited_by_name": "Ann",
         *       "expires_at": "2026-11-28T09:00:00.000Z"
         *     }
         */
        ShownInvitation: {
            /** @description The address that is invited: no other account can accept */
            email: string;
            /** Format: date-time */
            expires_at: string;
            /** @description E-mail address */
            invited_by: string;
            /** @description As they call themself; may be empty */
            invited_by_name: string;
            organization: string;
            /** @enum {string} */
            role: "viewer" | "member" | "admin" | "owner";
        };
        /**
         * @example {
         *       "email": "ann@example.com",
         *       "password": "correct horse battery staple",
         *       "name": "Ann",
         *       "organization_name": "Acme"
         *     }
         */
        SignUp: {
            email: string;
            name?: string | null;
            /** @description Left out, null or empty: called after the person */
            organization_name?: string | null;
            /** Format: password */
            password: string;
        };
        SignUpResult: {
            /** @enum {string} */
            status: "pending_email_verification";
        };
        /**
         * @example {
         *       "url": "https://github.com/login/oauth/authorize?client_id=Iv1.8a61f9b3"
         *     }
         */
        StartedLogin: {
            /**
             * Format: uri
             * @description Of the provider
             */
            url: string;
        };
        /**
         * @example {
         *       "return_to": "/app/invite?token=q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ"
         *     }
         */
        StartLogin: {
            /**
             * @description A path of this server, where the browser goes in the end; anything else counts as `/`
             * @default /
             * @example /app/tunnels
             */
            return_to: string;
        };
        /**
         * @example {
         *       "access_token": "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
         *       "active_org": {
         *         "id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01",
         *         "name": "Acme",
         *         "slug": "acme",
         *         "role": "owner",
         *         "approval_status": "approved"
         *       }
         *     }
         */
        SwitchedOrg: {
            access_token: string;
            active_org: components["schemas"]["ActiveOrg"];
        };
        /**
         * @example {
         *       "org_id": "019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01"
         *     }
         */
        SwitchOrg: {
            org_id: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20",
         *       "name": "ci",
         *       "nonce": "5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6",
         *       "kind": "agent",
         *       "version": 1,
         *       "tunnelQuota": 2,
         *       "bandwidthLimitMbps": 100,
         *       "allowedSubdomains": [
         *         "pr-*"
         *       ],
         *       "projectSlug": null,
         *       "parentNonce": null,
         *       "issuedAt": 1795250000,
         *       "expiresAt": 1795336400,
         *       "graceEndsAt": null,
         *       "replacedBy": null,
         *       "revoked": false,
         *       "monthlyBudgetUsdCents": null,
         *       "spentUsdCents": 0,
         *       "lastUsedAt": null,
         *       "wireBytesLen": 262
         *     }
         */
        Token: {
            allowedSubdomains: string[];
            bandwidthLimitMbps: number;
            /** @description Unix seconds */
            expiresAt: number;
            /** @description Unix seconds: was rotated, or the master key that minted it was, and works until then */
            graceEndsAt: number | null;
            id: string;
            /** @description Unix seconds */
            issuedAt: number;
            /** @enum {string} */
            kind: "agent" | "master" | "project" | "cli";
            /** @description Unix seconds */
            lastUsedAt: number | null;
            monthlyBudgetUsdCents: number | null;
            name: string;
            /** @description Hex; the handle in paths */
            nonce: string;
            /** @description Of the master key that minted it, and that it dies with */
            parentNonce: string | null;
            projectSlug: string | null;
            /** @description Nonce of the token that rotation made of it; null: it was not rotated */
            replacedBy: string | null;
            revoked: boolean;
            /** @description This UTC month, of this token and those that rotation made of it */
            spentUsdCents: number;
            /** @description 0: a master key, which opens no tunnels */
            tunnelQuota: number;
            version: number;
            wireBytesLen: number;
        };
        /**
         * @description At most 16 actions. An unknown field is 400 `bad_policy`. With `"enforce": false` an action lets pass what it would refuse, and counts it.
         * @example {
         *       "actions": [
         *         {
         *           "kind": "deny",
         *           "path_prefix": "/admin"
         *         },
         *         {
         *           "kind": "rate_limit",
         *           "requests_per_minute": 600,
         *           "per_client_ip": true
         *         },
         *         {
         *           "kind": "header_set",
         *           "name": "X-Tenant",
         *           "value": "blue"
         *         }
         *       ]
         *     }
         */
        TrafficPolicy: {
            actions: ({
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "header_set";
                name: string;
                value: string;
            } | {
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "response_header_set";
                name: string;
                value: string;
            } | {
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "deny";
                path_prefix: string;
            } | {
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "ip_allow";
                networks: string[];
            } | {
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "ip_deny";
                networks: string[];
            } | {
                /** @default true */
                enforce: boolean;
                /** @enum {string} */
                kind: "rate_limit";
                /** @default false */
                per_client_ip: boolean;
                requests_per_minute: number;
            } | {
                /** @default [] */
                allowed_audiences: string[];
                /** @default [] */
                allowed_issuers: string[];
                /** @default true */
                enforce: boolean;
                /**
                 * Format: uri
                 * @default null
                 */
                jwks_url: string | null;
                /** @enum {string} */
                kind: "jwt_validation";
            })[];
        } | null;
        /**
         * @example {
         *       "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "subdomain": "shop",
         *       "publicUrl": "https://shop.example.com",
         *       "status": "active",
         *       "protocol": "http",
         *       "localPort": 3000,
         *       "authEnabled": false,
         *       "bytesIn": 18204,
         *       "bytesOut": 731550,
         *       "totalRequests": 412,
         *       "createdAt": "2026-11-21T09:00:00.000Z",
         *       "projectSlug": "default",
         *       "online": true,
         *       "stopped": false,
         *       "expiresAt": "2026-11-22T09:00:00.000Z",
         *       "maintenance": false,
         *       "edgeAuthEnabled": false,
         *       "policyEnabled": false
         *     }
         */
        Tunnel: {
            authEnabled: boolean;
            bytesIn: number;
            bytesOut: number;
            /** Format: date-time */
            createdAt: string;
            edgeAuthEnabled: boolean;
            /** Format: date-time */
            expiresAt: string | null;
            /** Format: uuid */
            id: string;
            localPort: number;
            maintenance: boolean;
            /** @description An agent serves it now */
            online: boolean;
            policyEnabled: boolean;
            projectSlug: string;
            /** @enum {string} */
            protocol: "http" | "https" | "websocket" | "tcp";
            publicUrl: string;
            /** @enum {string} */
            status: "active" | "inactive";
            /** @description Agents are refused until it is started */
            stopped: boolean;
            subdomain: string;
            totalRequests: number;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "unlinked": true
         *     }
         */
        UnlinkResult: {
            /** Format: uuid */
            id: string;
            /** @enum {boolean} */
            unlinked: true;
        };
        /**
         * @example {
         *       "tunnel_id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *       "count": 1204,
         *       "last_at": "2026-11-21T09:05:00.000Z"
         *     }
         */
        UnrecordedRequests: {
            /** @description Requests that were served and not recorded */
            count: number;
            /**
             * Format: date-time
             * @description The minute of the last one
             */
            last_at: string;
            /** Format: uuid */
            tunnel_id: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "email": "ann@example.com",
         *       "name": "Ann",
         *       "email_verified": true,
         *       "mfa_enabled": true,
         *       "is_superadmin": false,
         *       "is_locked": false,
         *       "created_at": "2026-11-21T09:30:00.000Z",
         *       "orgs": [
         *         {
         *           "id": "019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10",
         *           "name": "Shop",
         *           "slug": "shop",
         *           "role": "owner"
         *         }
         *       ]
         *     }
         */
        User: {
            /** Format: date-time */
            created_at: string;
            email: string;
            email_verified: boolean;
            /** Format: uuid */
            id: string;
            /** @description By an operator: no way in until it is unlocked */
            is_locked: boolean;
            is_superadmin: boolean;
            mfa_enabled: boolean;
            name: string;
            orgs: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {string} */
                role: "viewer" | "member" | "admin" | "owner";
                slug: string;
            }[];
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11",
         *       "email": "ann@example.com",
         *       "password": "1U5Y08nc3DBpYHtjlU3qlg"
         *     }
         */
        UserWithPassword: {
            email: string;
            /** Format: uuid */
            id: string;
            password: string;
        };
        /**
         * @example {
         *       "email": "ann@example.com",
         *       "code": "042917"
         *     }
         */
        VerifyEmail: {
            code: string;
            email: string;
        };
        VerifyEmailResult: {
            /** @enum {string} */
            status: "verified";
        };
        /**
         * @example {
         *       "allowed_domains": [
         *         "example.com"
         *       ],
         *       "allowed_emails": [
         *         "ann@partner.example"
         *       ]
         *     }
         */
        VisitorGate: {
            /** @default [] */
            allowed_domains: string[];
            /** @default [] */
            allowed_emails: string[];
        };
        /**
         * @example {
         *       "signup": "open",
         *       "providers": [
         *         {
         *           "id": "github",
         *           "name": "GitHub",
         *           "start_url": "https://tunnel.example.com/auth/oauth/github/start"
         *         }
         *       ]
         *     }
         */
        WaysIn: {
            providers: {
                /** @enum {string} */
                id: "google" | "github";
                name: string;
                /** Format: uri */
                start_url: string;
            }[];
            /** @enum {string} */
            signup: "open" | "closed";
        };
        /**
         * @example {
         *       "ok": true
         *     }
         */
        WebhookAccepted: {
            /** @enum {boolean} */
            ok: true;
        };
        /**
         * @example {
         *       "challenge": "3eZbrw1a"
         *     }
         */
        WebhookChallenge: {
            challenge: string;
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10",
         *       "received_at": "2026-11-21T09:05:00.000Z",
         *       "event_type": "push",
         *       "delivery_id": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
         *       "content_type": "application/json",
         *       "headers": {
         *         "x-github-event": "push"
         *       },
         *       "size": 25,
         *       "body": "eyJyZWYiOiJyZWZzL2hlYWRzL21haW4ifQ==",
         *       "forward": {
         *         "state": "delivered",
         *         "attempts": 1,
         *         "last_status": 200,
         *         "last_error": null,
         *         "next_attempt_at": null,
         *         "delivered_at": "2026-11-21T09:05:01.000Z"
         *       }
         *     }
         */
        WebhookDelivery: {
            /** @description The bytes that were signed, in base64 */
            body: string;
            content_type: string | null;
            /** @description By which the sender knows it; stored once */
            delivery_id: string | null;
            /** @description As the sender calls it */
            event_type: string | null;
            forward: components["schemas"]["WebhookProgress"];
            /** @description Names in lower case */
            headers: {
                [key: string]: string;
            };
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            received_at: string;
            /** @description Bytes of the body */
            size: number;
        };
        /**
         * @description Where deliveries are sent on to
         * @example {
         *       "tunnel_id": "019aa3c2-5b70-7d3c-8f11-6f1c9d2e4b57",
         *       "path": "/webhooks/github"
         *     }
         */
        WebhookForward: {
            /** @default / */
            path: string;
            tunnel_id: string;
        } | null;
        /**
         * @description What became of it on its way to the tunnel
         * @example {
         *       "state": "waiting",
         *       "attempts": 2,
         *       "last_status": 500,
         *       "last_error": null,
         *       "next_attempt_at": "2026-11-21T09:05:06.000Z",
         *       "delivered_at": null
         *     }
         */
        WebhookProgress: {
            attempts: number;
            /** Format: date-time */
            delivered_at: string | null;
            /** @description What the edge says was wrong with the last try; null: nothing, or it was the answer of the service itself */
            last_error: string | null;
            /** @description HTTP status of the last try; null: nothing came */
            last_status: number | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            /**
             * @description `none`: it was not to be sent on. `waiting`: for those before it, for an agent, or until `next_attempt_at`. `failed`: given up.
             * @enum {string}
             */
            state: "none" | "waiting" | "sending" | "delivered" | "failed";
        };
        /**
         * @example {
         *       "id": "019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13",
         *       "name": "orders",
         *       "validator": "github",
         *       "url": "https://api.example.com/webhooks/019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13",
         *       "created_at": "2026-11-21T09:00:00.000Z",
         *       "last_received_at": "2026-11-21T09:05:00.000Z",
         *       "received": 12,
         *       "stored": 12,
         *       "displaced": 0,
         *       "refused": {
         *         "total": 0,
         *         "by_reason": {
         *           "signature_missing": 0,
         *           "signature_wrong": 0,
         *           "signature_too_old": 0,
         *           "too_large": 0,
         *           "came_back": 0
         *         },
         *         "last_at": null,
         *         "last_reason": null,
         *         "since_received": 0
         *       },
         *       "waiting": 2,
         *       "forward": {
         *         "tunnel_id": "019aa3c2-5b70-7d3c-8f11-6f1c9d2e4b57",
         *         "path": "/webhooks/github"
         *       }
         *     }
         */
        WebhookReceiver: {
            /** Format: date-time */
            created_at: string;
            /** @description Deliveries that went because newer ones needed their room */
            displaced: number;
            forward: components["schemas"]["WebhookForward"];
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_received_at: string | null;
            name: string;
            /** @description Deliveries since the beginning */
            received: number;
            refused: components["schemas"]["WebhookRefusals"];
            /** @description Deliveries that can be read now */
            stored: number;
            /**
             * Format: uri
             * @description Where the sender delivers to
             */
            url: string;
            /** @enum {string} */
            validator: "generic_hmac_sha256" | "github" | "slack" | "stripe";
            /** @description Deliveries that wait to be sent on, the one on its way among them */
            waiting: number;
        };
        /**
         * @example {
         *       "name": "orders, new shop"
         *     }
         */
        WebhookReceiverChanges: {
            forward?: components["schemas"]["WebhookForward"] & unknown;
            /** @example orders */
            name?: string;
            /**
             * @description Shared with the sender; never shown again
             * @example k3Yw0mV8…
             */
            secret?: string;
            /**
             * @description `generic_hmac_sha256`: `X-Signature-256: sha256=<hex HMAC-SHA256 of the body>`, with `X-Delivery-Id` and `X-Event-Type` where the sender has them. `github`, `slack`, `stripe`: as these sign.
             * @example github
             * @enum {string}
             */
            validator?: "generic_hmac_sha256" | "github" | "slack" | "stripe";
        };
        /**
         * @description Deliveries that were refused, and of which nothing is kept, since the secret or the validator was changed last
         * @example {
         *       "total": 12,
         *       "by_reason": {
         *         "signature_missing": 0,
         *         "signature_wrong": 12,
         *         "signature_too_old": 0,
         *         "too_large": 0,
         *         "came_back": 0
         *       },
         *       "last_at": "2026-11-21T09:04:50.000Z",
         *       "last_reason": "signature_wrong",
         *       "since_received": null
         *     }
         */
        WebhookRefusals: {
            by_reason: {
                /** @description This server had sent it on itself */
                came_back: number;
                /** @description Not signed, or not as this validator reads it */
                signature_missing: number;
                /** @description By the sender's own timestamp more than 300 s away from this server's clock */
                signature_too_old: number;
                /** @description Signed with another secret, or changed on its way */
                signature_wrong: number;
                /** @description The body was larger than 1 MiB */
                too_large: number;
            };
            /** Format: date-time */
            last_at: string | null;
            /** @enum {string|null} */
            last_reason: "signature_missing" | "signature_wrong" | "signature_too_old" | "too_large" | "came_back" | null;
            /** @description How many of them since a delivery was taken in last; null: none was since the secret or the validator was changed */
            since_received: number | null;
            total: number;
        };
        /**
         * @description For `wg-quick` and the WireGuard apps, once the private key stands in the place of `REPLACE_WITH_PRIVATE_KEY`
         * @example {
         *       "config": "# laptop in the private network office\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nAddress = 10.80.0.2/32\nMTU = 1400\n\n[Peer]\nPublicKey = cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=\nEndpoint = example.com:30000\nAllowedIPs = 10.80.0.0/24\nPersistentKeepalive = 25\n"
         *     }
         */
        WireGuardClientConfig: {
            config: string;
        };
        /**
         * @description For `wg-quick`, once the private key stands in the place of `REPLACE_WITH_PRIVATE_KEY`
         * @example {
         *       "config": "# The server of the private network office\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nAddress = 10.80.0.1/24\nListenPort = 51820\nMTU = 1400\n#   culvert udp 51820 --network office --server https://tunnel.example.com\n\n[Peer]\n# laptop\nPublicKey = 8Xr2mJ0vQkq5Tn7bL3cWz9fHs1dYp4uGe6aRoViKxUM=\nAllowedIPs = 10.80.0.2/32\n"
         *     }
         */
        WireGuardServerConfig: {
            config: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
