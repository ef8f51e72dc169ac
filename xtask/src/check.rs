pub fn run() -> anyhow::Result<bool> {
    Ok(true)
}
