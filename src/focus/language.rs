//! Intent of a request, by the words of ten languages.
//!
//! A word counts whole; one that ends with `*` counts with any ending. Chinese, Japanese, Korean and Thai do not part
//! words: there a phrase counts wherever it stands.

/// What a request asks for, in the order in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// To go on with what was begun.
    Continue,
    /// To plan.
    Plan,
    /// To change code.
    Change,
    /// To test or review.
    Verify,
}

impl Signal {
    /// Its public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue current execution",
            Self::Plan => "planning context",
            Self::Change => "code change requested",
            Self::Verify => "verification requested",
        }
    }
}

/// The languages that are known.
pub const LANGUAGES: [&str; 10] = ["en", "zh", "vi", "es", "de", "fr", "ja", "ko", "ru", "pt"];

struct Pack {
    language: &'static str,
    /// Words are parted.
    parted: bool,
    /// Of `Signal::Continue`, `Plan`, `Change`, `Verify`, parted by commas.
    words: [&'static str; 4],
}

const PACKS: [Pack; 10] = [
    Pack {
        language: "en",
        parted: true,
        words: [
            "continue,continues,continued,continuing,resume,resumes,resumed,resuming,next step,carry on,go on,keep going,pick up where",
            "plan,plans,planned,planning,next steps,steps to,roadmap,outline",
            "fix,fixes,fixed,fixing,implement,implements,implemented,implementing,edit,edits,edited,editing,update,updates,updated,updating,refactor,refactors,refactored,refactoring,rewrite,rename",
            "test,tests,tested,testing,verify,verifies,verified,verifying,review,reviews,reviewed,reviewing,double-check",
        ],
    },
    Pack {
        language: "zh",
        parted: false,
        words: [
            "继续,接着,下一步,繼續,接著",
            "计划,規劃,规划,计畫,方案,步骤",
            "修复,修改,实现,更新,重构,编辑,修復,實現,重構,編輯",
            "测试,验证,检查,审查,測試,驗證,檢查,審查",
        ],
    },
    Pack {
        language: "vi",
        parted: true,
        words: [
            "tiếp tục,bước tiếp theo,làm tiếp",
            "kế hoạch,lập kế hoạch,các bước",
            "sửa,sửa lỗi,cài đặt,triển khai,chỉnh sửa,cập nhật,viết lại",
            "kiểm tra,kiểm thử,xác minh,đánh giá,rà soát",
        ],
    },
    Pack {
        language: "es",
        parted: true,
        words: [
            "continúa,continua,continuar,continúe,sigue,seguir,reanuda*,siguiente paso",
            "plan,planes,planifica*,próximos pasos,pasos para",
            "arregla*,corrige*,corregir,implementa*,edita,editar,actualiza*,refactoriza*",
            "prueba,pruebas,probar,verifica*,revisa,revisar,comprueba,comprobar",
        ],
    },
    Pack {
        language: "de",
        parted: true,
        words: [
            "weiter,weitermachen,fortsetzen,setze fort,mach weiter,nächster schritt,nächsten schritt",
            "plan,pläne,planen,planung,nächste schritte,schritte zu",
            "behebe,beheben,repariere*,korrigier*,implementier*,bearbeite*,aktualisier*,refaktorier*,ändere,ändern",
            "teste,testen,tests,prüf*,überprüf*,verifizier*",
        ],
    },
    Pack {
        language: "fr",
        parted: true,
        words: [
            "continue,continuer,continuez,reprends,reprendre,prochaine étape,poursuis,poursuivre",
            "plan,plans,planifi*,prochaines étapes,étapes pour",
            "corrige*,implémente*,modifie*,édite*,mets à jour,mettre à jour,refactorise*,répare*",
            "teste,tester,testez,tests,vérifie*,relis,relire,valide,valider",
        ],
    },
    Pack {
        language: "ja",
        parted: false,
        words: [
            "続けて,続き,再開,次のステップ",
            "計画,手順,方針,プラン",
            "修正,直して,実装,編集,更新,リファクタ",
            "テスト,検証,確認,レビュー",
        ],
    },
    Pack {
        language: "ko",
        parted: false,
        words: [
            "계속,이어서,재개,다음 단계",
            "계획,단계별,로드맵",
            "수정,고쳐,구현,편집,업데이트,리팩터,리팩토링",
            "테스트,검증,확인,리뷰,검토",
        ],
    },
    Pack {
        language: "ru",
        parted: true,
        words: [
            "продолж*,возобнов*,следующий шаг,дальше",
            "план,планы,плана,планир*,следующие шаги,шаги для",
            "исправ*,почин*,реализ*,редактир*,отредактир*,обнов*,рефактор*,измени,изменить",
            "тест,тесты,протестир*,провер*,ревью",
        ],
    },
    Pack {
        language: "pt",
        parted: true,
        words: [
            "continue,continua,continuar,continue,retoma*,próximo passo,prossiga",
            "plano,planos,planeja*,planeia*,próximos passos,passos para",
            "corrija,corrige,corrigir,conserta*,implementa*,implemente,edite,editar,atualiza*,atualize,refatora*,refatore",
            "teste,testes,testar,verifica*,verifique,revise,revisar",
        ],
    },
];

/// What a query asks for, in these languages; each once.
pub(super) fn signals_in(query: &str, languages: &[&str]) -> Vec<Signal> {
    let query = words_of(query);
    let all = [Signal::Continue, Signal::Plan, Signal::Change, Signal::Verify];
    let packs = || PACKS.iter().filter(|pack| languages.contains(&pack.language));
    let asked = |at: usize| {
        packs().any(|pack| {
            let words = pack.words.get(at).copied().unwrap_or_default();
            words.split(',').any(|phrase| mentions(&query, phrase, pack.parted))
        })
    };
    (0..).zip(all).filter(|(at, _)| asked(*at)).map(|(_, signal)| signal).collect()
}

/// Small letters, one space between words and around all of them; what is longer than a request is not read to its end.
fn words_of(query: &str) -> String {
    const LONGEST: usize = 64 * 1024;
    let end = query.floor_char_boundary(LONGEST);
    let mut words = String::from(" ");
    for c in query.get(..end).unwrap_or_default().chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || c == '-' || ('\u{300}'..'\u{370}').contains(&c) {
            words.push(c);
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

fn mentions(query: &str, phrase: &str, parted: bool) -> bool {
    if !parted {
        return query.contains(phrase);
    }
    let (stem, open) = match phrase.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (phrase, false),
    };
    query.match_indices(stem).any(|(at, _)| {
        let (before, after) = (
            query.get(..at).unwrap_or_default(),
            query.get(at.saturating_add(stem.len())..).unwrap_or_default(),
        );
        before.ends_with(' ') && (open || after.starts_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[Signal]) {
        assert_eq!(signals_in(query, &LANGUAGES), expected, "{query}");
    }
    use Signal::{Change, Continue, Plan, Verify};

    /// A53: the four signals, in their order.
    /// Row A53.
    #[test]
    fn english_words_show_the_intent_of_a_request() {
        check("continue", &[Continue]);
        check("Resume, then plan the next steps", &[Continue, Plan]);
        check("take the next step", &[Continue]);
        check("steps to reproduce", &[Plan]);
        for word in ["fix", "Implement it", "edit that", "UPDATE", "refactored"] {
            check(word, &[Change]);
        }
        check("test, verify and review it", &[Verify]);
        check("what is this?", &[]);
    }

    /// A54: parts of words said something there, and "next steps" said two things.
    /// Row A54.
    #[test]
    fn parts_of_words_show_no_intent() {
        for word in [
            "prefix",
            "suffix",
            "latest",
            "contest",
            "preview",
            "explanation",
            "credit",
            "plane",
            "discontinued",
        ] {
            check(word, &[]);
        }
        check("next steps", &[Plan]);
    }

    #[test]
    fn words_of_nine_other_languages_show_the_intent_of_a_request() {
        for (query, expected) in [
            ("继续重构，然后测试", vec![Continue, Change, Verify]),
            ("Tiếp tục kế hoạch và sửa lỗi", vec![Continue, Plan, Change]),
            ("Corrige el error y verifica", vec![Change, Verify]),
            ("Bitte behebe den Fehler und prüfe es", vec![Change, Verify]),
            ("Continue et corrige le bogue", vec![Continue, Change]),
            ("続けて実装してテスト", vec![Continue, Change, Verify]),
            ("계속해서 수정하고 테스트", vec![Continue, Change, Verify]),
            ("Продолжай и исправь, потом проверь план", vec![Continue, Plan, Change, Verify]),
            ("Corrija e teste", vec![Change, Verify]),
        ] {
            check(query, &expected);
        }
    }

    #[test]
    fn only_the_languages_of_the_host_show_an_intent() {
        assert_eq!(signals_in("behebe das", &["en"]), []);
        assert_eq!(signals_in("behebe das", &["de"]), [Change]);
    }
}
