CREATE TABLE `inspector_shares` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`record_id` text NOT NULL,
	`tunnel_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inspector_shares_token` ON `inspector_shares` (`token_hash`);--> statement-breakpoint
CREATE INDEX `inspector_shares_org` ON `inspector_shares` (`org_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `inspector_shares_expiry` ON `inspector_shares` (`expires_at`);