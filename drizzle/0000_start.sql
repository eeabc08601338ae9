CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_label` text NOT NULL,
	`ip_address` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_events_org_at` ON `audit_events` (`org_id`,`at`);--> statement-breakpoint
CREATE INDEX `audit_events_at` ON `audit_events` (`at`);--> statement-breakpoint
CREATE TABLE `capability_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`project_id` text,
	`parent_id` text,
	`created_by` text,
	`kind` text NOT NULL,
	`version` integer NOT NULL,
	`name` text NOT NULL,
	`nonce` text NOT NULL,
	`subject` text NOT NULL,
	`key_hash` text NOT NULL,
	`wire_bytes_len` integer NOT NULL,
	`tunnel_quota` integer NOT NULL,
	`bandwidth_limit_mbps` integer NOT NULL,
	`allowed_subdomains` text NOT NULL,
	`monthly_budget_usd_cents` integer,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `capability_tokens_nonce` ON `capability_tokens` (`nonce`);--> statement-breakpoint
CREATE UNIQUE INDEX `capability_tokens_key_hash` ON `capability_tokens` (`key_hash`);--> statement-breakpoint
CREATE INDEX `capability_tokens_org` ON `capability_tokens` (`org_id`);--> statement-breakpoint
CREATE INDEX `capability_tokens_parent` ON `capability_tokens` (`parent_id`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`org_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `user_id`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `memberships_user` ON `memberships` (`user_id`);--> statement-breakpoint
CREATE TABLE `node_cursors` (
	`node` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`plan` text NOT NULL,
	`approval_status` text NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`is_default` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_org_slug` ON `projects` (`org_id`,`slug`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `projects_org_default` ON `projects` (`org_id`) WHERE is_default = 1;--> statement-breakpoint
CREATE TABLE `refresh_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`issued_at` integer NOT NULL,
	`rotated_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `refresh_tokens_session` ON `refresh_tokens` (`session_id`);--> statement-breakpoint
CREATE TABLE `resting_names` (
	`label` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`deleted_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`org_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`ip_address` text NOT NULL,
	`user_agent` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`public_jwk` text NOT NULL,
	`sealed_private` text NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer
);
--> statement-breakpoint
CREATE TABLE `tunnels` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`project_id` text NOT NULL,
	`label` text NOT NULL,
	`protocol` text NOT NULL,
	`local_port` integer NOT NULL,
	`tcp_port` integer,
	`status` text NOT NULL,
	`stopped` integer DEFAULT false NOT NULL,
	`ttl_seconds` integer,
	`expires_at` integer,
	`expired` integer DEFAULT false NOT NULL,
	`ephemeral` integer DEFAULT false NOT NULL,
	`token_id` text,
	`bytes_in` integer DEFAULT 0 NOT NULL,
	`bytes_out` integer DEFAULT 0 NOT NULL,
	`total_requests` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`token_id`) REFERENCES `capability_tokens`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tunnels_live_label` ON `tunnels` (`label`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `tunnels_live_port` ON `tunnels` (`tcp_port`) WHERE deleted_at IS NULL AND tcp_port IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tunnels_org` ON `tunnels` (`org_id`);--> statement-breakpoint
CREATE INDEX `tunnels_due` ON `tunnels` (`expires_at`) WHERE deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`password_hash` text,
	`email_verified_at` integer,
	`is_superadmin` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);